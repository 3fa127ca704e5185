/* SPDX-License-Identifier: MIT */
/*
 * What only some groups need: counts of events, who is told of them, what follows a charge that
 * does not fit, and bounds of the tree below.
 *
 * A group gets a row for it with its first limit, together with all groups above it, so that
 * counting a refusal needs no memory. Row 0 is that of all groups without: nothing counted, no
 * bounds.
 */
#ifndef UMEMCG_GROUP_RARE_H
#define UMEMCG_GROUP_RARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "group/event.h"
#include "group/group.h"
#include "umemcg.h"

/* What follows a charge that does not fit (reclaim/policy.h). Under the tree's lock. */
struct oom {
	enum umemcg_oom_policy policy;
	bool is_group_kill;
	bool (*callback)(struct umemcg *group, const struct umemcg_failure *failure, void *arg);
	void *arg;
};

struct rare {
	uint32_t link; /* the table's, while the row is free */
	uint32_t max_depth, max_descendants;
	/* Relaxed: counts that order nothing. */
	_Atomic uint32_t events[UMEMCG_NR_EVENTS];       /* here and below */
	_Atomic uint32_t events_local[UMEMCG_NR_EVENTS]; /* here */
	_Atomic uint32_t waker; /* of the subscribers (reclaim/waker.h); 0: there is none */
	struct oom oom;
};

extern struct table rare_table;

int rare_init(void);

/* Held over a fork. */
void rare_lock(void);
void rare_unlock(void);

/** rare_of - a group's row, or the common one, which is only read */
static inline struct rare *rare_of(const struct umemcg *group)
{
	/* Acquire pairs with rare_make(). */
	return table_row(&rare_table, atomic_load_explicit(&group->rare, memory_order_acquire));
}

/** rare_make - give a group and all above it a row of their own; 0 or -ENOMEM */
int rare_make(struct umemcg *group);

/** rare_free - of a group that is destroyed */
void rare_free(struct umemcg *group);

#endif
