/* SPDX-License-Identifier: MIT */
/*
 * Shrinkers: caches of the program's that can be made smaller.
 *
 * One that is being called is kept until the call returns, in whatever list it is by then. Those
 * that want a thread of the library's are called through asking.h.
 */
#ifndef UMEMCG_RECLAIM_SHRINKER_H
#define UMEMCG_RECLAIM_SHRINKER_H

#include <stdbool.h>
#include <stdint.h>

#include "umemcg.h"

struct flight;

struct umemcg_shrinker {
	uint32_t link;     /* the table's, while the row is free */
	uint32_t holdings; /* whose list it is in */
	uint32_t next, prev;
	uint32_t nr_running; /* calls of its callbacks */
	uint32_t nr_pins;    /* who is at it, those calls included: it stays in its list */
	unsigned int flags;
	bool is_gone; /* unregistered, but for those */
	struct umemcg_shrinker_ops ops;
	void *arg;
};

/* As their namesakes in umemcg.h, with arguments checked. */
int shrinker_register(struct umemcg *group, const struct umemcg_shrinker_ops *ops, void *arg,
		      unsigned int flags, struct umemcg_shrinker **ret_shrinker);
void shrinker_unregister(struct umemcg_shrinker *shrinker);

/** shrinker_call - run a callback of one that is pinned, in the calling thread; @nr_bytes: to scan,
 * or 0 to count */
uint64_t shrinker_call(struct flight *flight, struct umemcg_shrinker *shrinker,
		       struct umemcg *group, uint64_t nr_bytes);

/* Locked. */
void shrinker_pin(struct umemcg_shrinker *shrinker);
void shrinker_unpin(struct umemcg_shrinker *shrinker);

/** shrinker_count - bytes of a group itself that all that cover it could give back */
uint64_t shrinker_count(struct flight *flight, struct umemcg *group, uint64_t deadline_ns);

/**
 * shrinker_scan - have them give back about so much
 * @at: a place in what shrinker_count() said, which says whose turn it is
 */
void shrinker_scan(struct flight *flight, struct umemcg *group, uint64_t nr_bytes, uint64_t at,
		   uint64_t deadline_ns);

/* In a fork child, with the holdings locked: the calls of threads that it has lost are over. */
void shrinker_forget_others(void);

#endif
