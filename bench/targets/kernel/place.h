/* SPDX-License-Identifier: MIT */
/*
 * Where in the kernel's tree a block runs. A configuration keeps one group for the whole run; a
 * block whose limit depends on its use, or that makes groups itself, gets a group of its own.
 */
#ifndef BENCH_TARGETS_KERNEL_PLACE_H
#define BENCH_TARGETS_KERNEL_PLACE_H

#include "configurations.h"
#include "targets/kernel/cgroup.h"

/* A limit that nothing meets: 64 GiB. */
#define PLACE_FAR_BYTES (64ull << 30)

struct places {
	const struct cgroup *cgroup;
	struct cgroup_group *groups; /* one a configuration; an empty directory if not made yet */
	size_t nr_groups;
};

struct place {
	char procs[PATH_MAX];     /* to be written by whoever runs there; "" to stay */
	char directory[PATH_MAX]; /* in which groups can be made; "" if not asked for */
	bool passing;             /* made for one block */
	struct cgroup_group group;
};

/** places_init - returns 0 or -ENOMEM */
int places_init(struct places *places, const struct cgroup *cgroup, size_t nr_configurations);

/** places_fini - forget the groups; cgroup_finish() removes them */
void places_fini(struct places *places);

/**
 * place_take - where the next block runs
 * @places:        with its groups
 * @index:         of the configuration, below nr_configurations
 * @configuration: what it is to be
 * @own:           a group for this block alone
 * @inner:         one in which the block makes groups
 * @nr_bytes_max:  limit of an own group; 0 for none
 * @ret_place:     for place_leave()
 *
 * Return: 0 or a negative errno.
 */
int place_take(struct places *places, size_t index, const struct configuration *configuration,
	       bool own, bool inner, uint64_t nr_bytes_max, struct place *ret_place);

/** place_leave - remove what was made for the block; returns the group's peak in bytes */
uint64_t place_leave(struct places *places, struct place *place);

#endif
