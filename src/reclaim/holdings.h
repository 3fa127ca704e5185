/* SPDX-License-Identifier: MIT */
/*
 * What a group has registered that can be given back: its shrinkers, and its lists of objects.
 *
 * A group gets a row for it with its first one. Shrinkers and objects name the row, not the group.
 * When the group is destroyed its parent takes the row, or, if it has one, the row's lists are
 * hung behind its own, and the row leads there for as long as anything names it: so destroying
 * costs the same however many objects there are.
 */
#ifndef UMEMCG_RECLAIM_HOLDINGS_H
#define UMEMCG_RECLAIM_HOLDINGS_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/table.h"
#include "umemcg.h"

/* Of each group, from the youngest to the oldest. */
enum lru_list {
	LRU_INACTIVE,
	LRU_ACTIVE,
	LRU_ASIDE, /* looked at and left alone, while a scan goes on */
	NR_LRU_LISTS
};

struct lru_ends {
	uint32_t first, last; /* rows of lru.c */
	uint64_t nr_bytes;
	uint64_t nr_entries;
};

struct holdings {
	uint32_t link;    /* the table's, while the row is free */
	uint32_t group;   /* id; 0 once there is an heir */
	uint32_t heir;    /* row that has taken over, or 0 */
	uint32_t nr_refs; /* who names the row: the group, its shrinkers and objects, dead rows */
	uint32_t first_shrinker;
	struct lru_ends lists[NR_LRU_LISTS];
};

extern hidden struct table holdings_table;

static inline struct holdings *holdings_row(uint32_t row)
{
	return table_row(&holdings_table, row);
}

/* Guards all that is registered, and its tables. Innermost but for those of the tables of events;
 * held over a fork. */
void holdings_lock(void);
void holdings_unlock(void);

/** holdings_wait - locked: until somebody wakes, or a time of CLOCK_MONOTONIC, unlocked meanwhile;
 * no cancellation point */
void holdings_wait(uint64_t deadline_ns);
void holdings_wake(void);

/** holdings_init - follow the destruction of groups */
void holdings_init(void);

/** holdings_forget_others - in a fork child, locked: no other thread exists any more */
void holdings_forget_others(void);

/* All of these locked. */

/**
 * holdings_get - the row of a group, made if need be, for one more who names it
 *
 * Return: 0; -ENOMEM; -EINVAL for a group that is being destroyed.
 */
int holdings_get(struct umemcg *group, uint32_t *ret_row);

/** holdings_put - one less names it */
void holdings_put(uint32_t row);

/** holdings_live - follow a named row to its heir, and name that from now on */
uint32_t holdings_live(uint32_t *row);

/** holdings_of - the row of a group, or 0 */
uint32_t holdings_of(const struct umemcg *group);

/* How lists and shrinkers of a row that dies are hung behind those of its heir. */
void lru_bequeath(struct holdings *from, struct holdings *to);
void shrinker_bequeath(struct holdings *from, struct holdings *to);

#endif
