/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/replace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "write_all.h"

static int write_directly(const char *path, const void *content, size_t nr_bytes)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = write_all(fd, content, nr_bytes);
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

/* The mode that open(2) would have given a new file. */
static mode_t mode_of_new_files(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Writes @fd, which becomes a file of mode @mode, and closes it. */
static int fill(int fd, mode_t mode, const void *content, size_t nr_bytes)
{
	int ret = write_all(fd, content, nr_bytes);

	if (!ret && (fchmod(fd, mode) || fsync(fd)))
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

static int write_beside_and_rename(const char *path, mode_t mode, const void *content,
				   size_t nr_bytes)
{
	char *beside;
	int fd, ret;

	if (asprintf(&beside, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
		free(beside);
		return ret;
	}
	ret = fill(fd, mode, content, nr_bytes);
	if (!ret && rename(beside, path))
		ret = -errno;
	if (ret)
		unlink(beside);
	free(beside);
	return ret;
}

int replace_file(const char *path, const void *content, size_t nr_bytes)
{
	struct stat status;
	char *target;
	int ret;

	if (stat(path, &status)) {
		if (errno != ENOENT)
			return -errno;
		return write_beside_and_rename(path, mode_of_new_files(), content, nr_bytes);
	}
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (!S_ISREG(status.st_mode))
		return write_directly(path, content, nr_bytes);
	if (access(path, W_OK))
		return -errno;
	target = realpath(path, NULL);
	if (!target)
		return -errno;
	ret = write_beside_and_rename(target, status.st_mode & 07777, content, nr_bytes);
	free(target);
	return ret;
}
