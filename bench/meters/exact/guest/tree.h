/* SPDX-License-Identifier: MIT */
/* The guest's cgroups: the mount, which is there in every configuration, and where blocks run. */
#ifndef BENCH_METERS_EXACT_GUEST_TREE_H
#define BENCH_METERS_EXACT_GUEST_TREE_H

#include "meters/exact/job.h"
#include "targets/kernel/place.h"

struct tree {
	struct cgroup cgroup;
	struct places places;
	struct configuration configuration;
	bool prepared;
};

/**
 * tree_init - mount what the job asks for, and see what can be done there
 * @error: on failure one line, JOB_ERROR bytes
 *
 * Return: 0; -ENODEV if the job needs groups that this kernel has not got; -ENOMEM.
 */
int tree_init(struct tree *tree, const struct guest_job *job, char *error);

/**
 * tree_take - where the next block runs
 * @inner:        it makes groups itself
 * @nr_bytes_max: limit of a group that is near its limit; 0 to find out what it takes
 * @ret_place:    for tree_leave()
 *
 * Return: 0 or a negative errno.
 */
int tree_take(struct tree *tree, bool inner, uint64_t nr_bytes_max, struct place *ret_place);

/** tree_leave - remove what was made for the block; returns the group's peak in bytes */
uint64_t tree_leave(struct tree *tree, struct place *place);

#endif
