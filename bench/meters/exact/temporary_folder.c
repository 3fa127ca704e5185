/* SPDX-License-Identifier: MIT */
#include "meters/exact/temporary_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "umemcg-bench-"
/* More than what a file's last, unfinished write can have left free. */
#define SPACE_BYTES 65536

static void remove_files(int fd)
{
	int own_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = own_fd < 0 ? NULL : fdopendir(own_fd);
	struct dirent *entry;

	if (!directory) {
		if (own_fd >= 0)
			close(own_fd);
		return;
	}
	while ((entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd(directory), entry->d_name, 0);
	}
	closedir(directory);
}

/* The process that a name tells, or 0 for a name of another form. */
static pid_t owner_of(const char *name)
{
	char *end;
	long pid;

	if (strncmp(name, PREFIX, strlen(PREFIX)))
		return 0;
	pid = strtol(name + strlen(PREFIX), &end, 10);
	return pid > 0 && pid <= INT_MAX && *end == '-' && strlen(end) == 7 ? (pid_t)pid : 0;
}

/*
 * The lock tells that a process which cannot be seen from here still uses the directory; the
 * process number, that one which has just been made is about to be locked.
 */
static void remove_stale(int parent_fd, const char *name)
{
	pid_t pid = owner_of(name);
	struct stat status;
	int fd;

	if (!pid || !kill(pid, 0) || errno != ESRCH)
		return;
	fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!fstat(fd, &status) && status.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB)) {
		remove_files(fd);
		unlinkat(parent_fd, name, AT_REMOVEDIR);
	}
	close(fd);
}

static void sweep(const char *parent)
{
	DIR *directory = opendir(parent);
	struct dirent *entry;

	if (!directory)
		return;
	while ((entry = readdir(directory)))
		remove_stale(dirfd(directory), entry->d_name);
	closedir(directory);
}

int temporary_folder_create(const char *parent, struct temporary_folder *ret_folder)
{
	struct temporary_folder *folder = ret_folder;
	char absolute[PATH_MAX];
	int error;

	if (!parent)
		parent = getenv("TMPDIR");
	if (!parent || !parent[0])
		parent = "/tmp";
	*folder = (struct temporary_folder){ .lock_fd = -1 };
	snprintf(folder->parent, sizeof(folder->parent), "%s", parent);
	if (!realpath(parent, absolute))
		return -errno;
	sweep(absolute);
	if (snprintf(folder->path, sizeof(folder->path), "%s/" PREFIX "%d-XXXXXX", absolute,
		     getpid()) >= (int)sizeof(folder->path))
		error = -ENAMETOOLONG;
	else
		error = mkdtemp(folder->path) ? 0 : -errno;
	if (!error) {
		folder->lock_fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		error = folder->lock_fd < 0 ? -errno : 0;
		if (error)
			rmdir(folder->path);
	}
	if (error)
		folder->path[0] = '\0';
	else
		/* Where locks are not to be had, the process number alone has to do. */
		flock(folder->lock_fd, LOCK_EX | LOCK_NB);
	return error;
}

void temporary_folder_remove(struct temporary_folder *folder)
{
	if (!folder->path[0] || folder->lock_fd < 0)
		return;
	remove_files(folder->lock_fd);
	rmdir(folder->path);
	close(folder->lock_fd);
	folder->lock_fd = -1;
	folder->path[0] = '\0';
}

int temporary_folder_check_space(const struct temporary_folder *folder)
{
	static const char zeros[4096];
	int fd = openat(folder->lock_fd, "space", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int error = fd < 0 ? -errno : 0;

	for (size_t done = 0; !error && done < SPACE_BYTES; done += sizeof(zeros)) {
		ssize_t nr_written = write(fd, zeros, sizeof(zeros));

		if (nr_written < 0)
			error = -errno;
		else if (nr_written < (ssize_t)sizeof(zeros))
			error = -ENOSPC;
	}
	if (fd >= 0 && close(fd) && !error)
		error = -errno;
	unlinkat(folder->lock_fd, "space", 0);
	return error;
}
