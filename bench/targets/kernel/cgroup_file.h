/* SPDX-License-Identifier: MIT */
/* Reading and writing one control file of the kernel's. */
#ifndef BENCH_TARGETS_KERNEL_CGROUP_FILE_H
#define BENCH_TARGETS_KERNEL_CGROUP_FILE_H

#include <stddef.h>
#include <sys/types.h>

/** cgroup_file_path - "directory/name" in PATH_MAX bytes; returns 0 or -ENAMETOOLONG */
int cgroup_file_path(char *ret_path, const char *directory, const char *name);

/** cgroup_file_read - the text, NUL-terminated; returns its length or a negative errno */
ssize_t cgroup_file_read(const char *path, char *text, size_t size);

/** cgroup_file_write - in one write, as the kernel wants it; returns 0 or a negative errno */
int cgroup_file_write(const char *path, const char *text);

#endif
