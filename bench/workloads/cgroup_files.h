/* SPDX-License-Identifier: MIT */
/* The few things that a workload does with groups of the kernel below its own. */
#ifndef BENCH_WORKLOADS_CGROUP_FILES_H
#define BENCH_WORKLOADS_CGROUP_FILES_H

#include <stdint.h>
#include <sys/types.h>

#include "workloads/workload.h"

/** cgroup_files_make - mkdir of @name below @directory */
int cgroup_files_make(const char *directory, const char *name, struct workload_worker *worker);

/** cgroup_files_remove - rmdir of @name below @directory; returns 0 or a negative errno */
int cgroup_files_remove(const char *directory, const char *name);

/** cgroup_files_put - make the group @name and move @pid into it */
int cgroup_files_put(const char *directory, const char *name, pid_t pid,
		     struct workload_worker *worker);

/** cgroup_files_limit - set the limit of the group @name, by its v2 or v1 file */
int cgroup_files_limit(const char *directory, const char *name, uint64_t nr_bytes,
		       struct workload_worker *worker);

/**
 * cgroup_files_read - read every file "memory.*" of a group that can be read
 *
 * Return: how many there were, or a negative errno.
 */
int cgroup_files_read(const char *directory, const char *name, struct workload_worker *worker);

/** cgroup_files_usage - bytes charged to a group, by its v2 or v1 file; 0 if neither is there */
uint64_t cgroup_files_usage(const char *directory);

#endif
