/* SPDX-License-Identifier: MIT */
/* The few things that a workload does with groups of the kernel below its own. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/cgroup_files.h"

int cgroup_files_make(const char *directory, const char *name, struct workload_worker *worker)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (mkdir(path, 0755) && errno != EEXIST)
		return workload_fail(worker, "mkdir of a cgroup");
	return 0;
}

int cgroup_files_remove(const char *directory, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	/* A task that has just been waited for may be in its group for a moment more. */
	for (unsigned int attempt = 0; attempt < 100; attempt++) {
		if (!rmdir(path))
			return 0;
		if (errno != EBUSY)
			break;
		usleep(1000);
	}
	return -errno;
}

int cgroup_files_put(const char *directory, const char *name, pid_t pid,
		     struct workload_worker *worker)
{
	char path[PATH_MAX], text[16];
	int fd, length, error = cgroup_files_make(directory, name, worker);

	if (error)
		return error;
	snprintf(path, sizeof(path), "%s/%s/cgroup.procs", directory, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return workload_fail(worker, "open of cgroup.procs");
	length = snprintf(text, sizeof(text), "%d", pid);
	if (write(fd, text, (size_t)length) != length)
		error = workload_fail(worker, "write to cgroup.procs");
	close(fd);
	return error;
}

int cgroup_files_limit(const char *directory, const char *name, uint64_t nr_bytes,
		       struct workload_worker *worker)
{
	static const char *const names[] = { "memory.max", "memory.limit_in_bytes" };
	char path[PATH_MAX];

	for (unsigned int i = 0; i < 2; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%s/%s", directory, name, names[i]);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		errno = dprintf(fd, "%llu", (unsigned long long)nr_bytes) < 0 ? errno : 0;
		close(fd);
		return errno ? workload_fail(worker, "write of a cgroup's limit") : 0;
	}
	return workload_fail(worker, "open of a cgroup's limit");
}

int cgroup_files_read(const char *directory, const char *name, struct workload_worker *worker)
{
	char path[PATH_MAX], text[16384];
	int group, nr_files = 0;
	struct dirent *entry;
	DIR *files;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	group = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	files = group < 0 ? NULL : fdopendir(group);
	if (!files)
		return workload_fail(worker, "open of a cgroup");
	while ((entry = readdir(files))) {
		ssize_t length = 0;
		int fd;

		if (strncmp(entry->d_name, "memory.", 7))
			continue;
		fd = openat(group, entry->d_name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		while ((length = read(fd, text, sizeof(text))) > 0)
			;
		nr_files += length == 0;
		close(fd);
	}
	closedir(files);
	return nr_files;
}

uint64_t cgroup_files_usage(const char *directory)
{
	static const char *const names[] = { "memory.current", "memory.usage_in_bytes" };
	char path[PATH_MAX], text[32];

	for (unsigned int i = 0; i < 2; i++) {
		ssize_t length;
		int fd;

		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		length = read(fd, text, sizeof(text) - 1);
		close(fd);
		if (length <= 0)
			continue;
		text[length] = '\0';
		return strtoull(text, NULL, 10);
	}
	return 0;
}
