/* SPDX-License-Identifier: MIT */
#include "shared/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/system.h"
#include "charge/pause.h"

#define PREFIX "umemcg."

static bool may_be_in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '.';
}

int file_check_name(const char *name)
{
	size_t length = 0;

	if (!name || name[0] == '.')
		return -EINVAL;
	for (; name[length]; length++)
		if (length >= UMEMCG_TREE_NAME_MAX || !may_be_in_name(name[length]))
			return -EINVAL;
	return length ? 0 : -EINVAL;
}

static const char *absolute(const char *variable)
{
	const char *path = secure_getenv(variable);

	return path && path[0] == '/' ? path : NULL;
}

const char *file_directory(void)
{
	const char *path = absolute("UMEMCG_RUNTIME_DIR");

	if (!path)
		path = absolute("XDG_RUNTIME_DIR");
	return path ? path : "/dev/shm";
}

static int path_of(const char *name, char path[PATH_MAX])
{
	int length = snprintf(path, PATH_MAX, "%s/" PREFIX "%s", file_directory(), name);

	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* What nobody but the effective user can have made, and nobody else can write. */
static bool is_ours(const struct stat *stat)
{
	return S_ISREG(stat->st_mode) && stat->st_uid == geteuid() &&
	       (stat->st_mode & 07777) == 0600 && stat->st_nlink <= 1;
}

static int open_error(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return -ENOENT;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		return -ENOMEM;
	default:
		/* A link, a directory, a socket, what may not be opened. */
		return -EPERM;
	}
}

int file_open(const char *name, int *ret_fd, struct stat *ret_stat)
{
	char path[PATH_MAX];
	int r = path_of(name, path), fd;

	if (r)
		return -ENOENT;
	fd = system_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
			   0);
	if (fd < 0)
		return open_error(errno);
	if (fstat(fd, ret_stat) || !is_ours(ret_stat)) {
		system_close(fd);
		return -EPERM;
	}
	*ret_fd = fd;
	return 0;
}

bool file_is(const char *name, dev_t device, ino_t inode)
{
	char path[PATH_MAX];
	struct stat now;

	return !path_of(name, path) && !lstat(path, &now) && now.st_dev == device &&
	       now.st_ino == inode;
}

static int create_named(char temporary[PATH_MAX], int *ret_fd)
{
	int length = snprintf(temporary, PATH_MAX, "%s/." PREFIX "XXXXXX", file_directory());

	if (length >= PATH_MAX)
		return -ENAMETOOLONG;
	*ret_fd = mkostemp(temporary, O_CLOEXEC);
	if (*ret_fd >= 0)
		return 0;
	temporary[0] = '\0';
	return -errno;
}

int file_create(bool is_unnamed, char temporary[PATH_MAX], int *ret_fd)
{
	int fd = -1, r;

	temporary[0] = '\0';
	if (is_unnamed) {
		fd = open(file_directory(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		/* Two words for a file system, or a kernel, that has no files without names. */
		if (fd < 0 && errno != EOPNOTSUPP && errno != EISDIR)
			return -errno;
	}
	if (fd < 0) {
		r = create_named(temporary, &fd);
		if (r)
			return r;
	}
	/* Whatever the umask. */
	if (fchmod(fd, 0600)) {
		r = -errno;
		file_discard(temporary);
		close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

int file_publish(int fd, const char *temporary, const char *name)
{
	char path[PATH_MAX], link[64];
	int r = path_of(name, path);

	if (r)
		return r;
	/* Not link(): with two names for a moment it would look foreign to others. */
	if (temporary[0])
		return renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) ? -errno
											: 0;
	/* AT_EMPTY_PATH would need a capability. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

void file_discard(const char *temporary)
{
	if (temporary[0])
		unlink(temporary);
}

int file_lock(int fd)
{
	int64_t start_ns = 0;

	for (unsigned int round = 0; flock(fd, LOCK_EX | LOCK_NB); round++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (pause_is_look(round) && pause_is_stalled(&start_ns))
			return -EBUSY;
		pause_briefly(round);
	}
	return 0;
}

void file_unlock(int fd)
{
	flock(fd, LOCK_UN);
}

void file_unlink(const char *name, const struct stat *stat)
{
	char path[PATH_MAX];

	if (file_is(name, stat->st_dev, stat->st_ino) && !path_of(name, path))
		unlink(path);
}

int file_walk(int (*visit)(const char *name, void *arg), void *arg)
{
	DIR *folder = opendir(file_directory());
	struct dirent *entry;
	struct stat stat;
	int r = 0;

	if (!folder)
		return errno == ENOENT ? 0 : -errno;
	while (!r && (entry = readdir(folder))) {
		const char *name = entry->d_name + strlen(PREFIX);

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) || file_check_name(name))
			continue;
		if (fstatat(dirfd(folder), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) ||
		    !is_ours(&stat))
			continue;
		r = visit(name, arg);
	}
	closedir(folder);
	return r;
}
