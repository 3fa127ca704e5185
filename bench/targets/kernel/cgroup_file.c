/* SPDX-License-Identifier: MIT */
/* Reading and writing one control file of the kernel's. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "targets/kernel/cgroup_file.h"

int cgroup_file_path(char *ret_path, const char *directory, const char *name)
{
	int length = snprintf(ret_path, PATH_MAX, "%s/%s", directory, name);

	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

ssize_t cgroup_file_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return -errno;
	length = read(fd, text, size - 1);
	if (length < 0)
		length = -errno;
	else
		text[length] = '\0';
	close(fd);
	return length;
}

int cgroup_file_write(const char *path, const char *text)
{
	size_t length = strlen(text);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, length) != (ssize_t)length)
		error = errno ? -errno : -EIO;
	close(fd);
	return error;
}
