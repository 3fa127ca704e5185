/* SPDX-License-Identifier: MIT */
/* The groups that a round of reclaim is to take from, with what of them is protected. */
#ifndef UMEMCG_RECLAIM_TARGETS_H
#define UMEMCG_RECLAIM_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "umemcg.h"

/* Enough for most trees; larger ones have their targets in a mapping. */
#define NR_TARGETS_ON_STACK 24u

struct target {
	uint32_t id;
	uint32_t owner;
	size_t parent; /* target, of all but the first, which is the top */
	uint64_t nr_bytes_usage;
	uint64_t min, low;                   /* effective */
	uint64_t children_min, children_low; /* what all children use of their settings */
	/* For who reclaims. */
	uint64_t nr_bytes; /* that it could give back */
	uint64_t part;     /* of that, what is not spared */
};

struct targets {
	struct target *all; /* parents before children */
	size_t nr, nr_max;
	struct target on_stack[NR_TARGETS_ON_STACK];
};

/** targets_find - all groups from @top downwards that use anything */
void targets_find(struct targets *targets, struct umemcg *top);
void targets_free(struct targets *targets);

/** target_group - the group, or NULL if it is gone */
struct umemcg *target_group(const struct target *target);

#endif
