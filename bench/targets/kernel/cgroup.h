/* SPDX-License-Identifier: MIT */
/*
 * The kernel's memory controller on the running system, v1 or v2: finding it, and groups of the
 * lab's own in it. Every group's name begins with umemcg-bench- and the pid of whoever made it, so
 * that the next run can remove what a crashed one left behind. Nobody else's process is ever moved.
 */
#ifndef BENCH_TARGETS_KERNEL_CGROUP_H
#define BENCH_TARGETS_KERNEL_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP_REASON 256

enum cgroup_version {
	CGROUP_NONE,
	CGROUP_V1,
	CGROUP_V2,
};

struct cgroup {
	enum cgroup_version version;
	char root[PATH_MAX]; /* the root group's directory */
	char own[PATH_MAX];  /* of the group that this process was found in */
	bool can_use_root;   /* workers can be put into the root group, or are there already */
	bool can_make;       /* groups can be made and workers put into them */
	char why_not[CGROUP_REASON];      /* where can_make is false */
	char why_not_root[CGROUP_REASON]; /* where can_use_root is false */
	char parent[PATH_MAX];            /* below which groups are made */
	bool moved;   /* this process left its own group to make room there (v2) */
	bool enabled; /* the controller was switched on for the parent's children (v2) */
};

struct cgroup_group {
	char top[PATH_MAX];       /* its first directory, below cgroup.parent */
	char directory[PATH_MAX]; /* the group itself */
	char procs[PATH_MAX];     /* file through which a worker is put into it */
};

/**
 * cgroup_find - find the memory controller through mountinfo
 * @prefix:     "" for the running system; a directory that holds a made-up one
 * @ret_cgroup: what was found; CGROUP_NONE is a finding too, with why_not
 *
 * Changes nothing. Return: 0, or a negative errno if mountinfo cannot be read.
 */
int cgroup_find(const char *prefix, struct cgroup *ret_cgroup);

/**
 * cgroup_prepare - make the parent ready to have groups below it
 *
 * On v2 the controller may have to be switched on for the parent's children, and, where only the
 * own group is writable, this process has to leave it. cgroup_finish() undoes both. If it cannot be
 * done, can_make is false and why_not says why.
 */
void cgroup_prepare(struct cgroup *cgroup);

/** cgroup_finish - remove what this process made, and undo cgroup_prepare() */
void cgroup_finish(struct cgroup *cgroup);

/**
 * cgroup_sweep - remove groups of runs whose process is gone
 *
 * Return: how many could not be removed, since something runs in them.
 */
unsigned int cgroup_sweep(const struct cgroup *cgroup);

/**
 * cgroup_group_create - a group at some depth below the root
 * @cgroup:    prepared
 * @name:      follows the pid in the group's name
 * @depth:     levels below the parent, 1 or more
 * @inner:     groups are to be made in it: a worker goes into a leaf of its own (v2 wants that)
 * @ret_group: for cgroup_group_destroy()
 *
 * Return: 0 or a negative errno, and nothing is left behind.
 */
int cgroup_group_create(const struct cgroup *cgroup, const char *name, unsigned int depth,
			bool inner, struct cgroup_group *ret_group);

/** cgroup_group_destroy - remove the group and all below it, once nothing runs there */
int cgroup_group_destroy(struct cgroup_group *group);

/** cgroup_group_set_max - limit a group to so many bytes */
int cgroup_group_set_max(const struct cgroup *cgroup, const struct cgroup_group *group,
			 uint64_t nr_bytes);

/** cgroup_group_peak - the most that was ever charged to it; 0 if the kernel does not say */
uint64_t cgroup_group_peak(const struct cgroup *cgroup, const struct cgroup_group *group);

/**
 * cgroup_enter - move the calling process
 * @procs: a group's file cgroup.procs
 *
 * Async-signal-safe: for a child between fork and exec. Return: 0 or a negative errno.
 */
int cgroup_enter(const char *procs);

/** cgroup_version_name - "none", "v1", "v2" */
const char *cgroup_version_name(enum cgroup_version version);

#endif
