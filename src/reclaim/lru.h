/* SPDX-License-Identifier: MIT */
/*
 * Objects that can be evicted, in the order in which they were last used, as far as that is known.
 *
 * Two lists a group: what is new, or has come down, is inactive; what was touched there becomes
 * active when the list is looked at. The inactive one's oldest are evicted. The lists lie in the
 * group's holdings, guarded by their lock; a touch is one store without it.
 */
#ifndef UMEMCG_RECLAIM_LRU_H
#define UMEMCG_RECLAIM_LRU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "umemcg.h"

struct flight;

struct umemcg_lru {
	uint32_t link;       /* the table's, while the row is free */
	uint32_t nr_evicted; /* of its entries, those whose callback is running */
	uint64_t nr_entries;
	enum umemcg_lru_status (*evict)(void *object, void *arg);
	void *arg;
};

struct umemcg_lru_entry {
	uint32_t link;               /* the table's, while the row is free */
	_Atomic uint32_t is_touched; /* relaxed: a hint */
	uint32_t holdings;           /* whose lists it is in */
	uint32_t next, prev;         /* younger ones come first */
	uint32_t list;               /* enum lru_list, or that it is of none */
	struct umemcg_lru *lru;
	void *object;
	uint64_t nr_bytes;
};

/* As their namesakes in umemcg.h, with arguments checked. */
int lru_create(enum umemcg_lru_status (*evict)(void *object, void *arg), void *arg,
	       struct umemcg_lru **ret_lru);
int lru_destroy(struct umemcg_lru *lru);
int lru_add(struct umemcg_lru *lru, struct umemcg *group, void *object, uint64_t nr_bytes,
	    struct umemcg_lru_entry **ret_entry);
int lru_remove(struct umemcg_lru_entry *entry);

/* relaxed: who looks next may see it. */
static inline void lru_touch(struct umemcg_lru_entry *entry)
{
	atomic_store_explicit(&entry->is_touched, 1, memory_order_relaxed);
}

/** lru_count - bytes in a group's lists */
uint64_t lru_count(struct umemcg *group);

/** lru_scan - evict about so much of a group's; each object is looked at once or twice at most */
void lru_scan(struct flight *flight, struct umemcg *group, uint64_t nr_bytes, uint64_t deadline_ns);

/* In a fork child, with the holdings locked. */
void lru_forget_others(void);

#endif
