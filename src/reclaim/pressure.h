/* SPDX-License-Identifier: MIT */
/*
 * Pressure: how long threads were stalled for memory, for each group and all below it.
 *
 * A group gets a row for it with its first stall, together with all groups above it. A row is in
 * one state from one look to the next, so its time is counted at each look. Nobody looks where
 * nothing stalls.
 */
#ifndef UMEMCG_RECLAIM_PRESSURE_H
#define UMEMCG_RECLAIM_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

#include "group/group.h"
#include "reclaim/average.h"

/* Under the lock. */
struct pressure {
	uint32_t link;       /* the table's, while the row is free */
	uint32_t nr_stalled; /* threads, here and below */
	uint32_t nr_threads; /* here and below, when threads were counted ... */
	uint32_t count;      /* ... in this count of them; none are here if it is an older one */
	uint32_t alarms;     /* the first (reclaim/alarm.h), or 0 */
	bool is_full;
	struct average average;
};

/** pressure_init - 0 or -ENOMEM. Once, before anything stalls */
int pressure_init(void);

/**
 * pressure_begin - the calling thread is stalled for memory charged to @owner; pressure_end() ends
 *
 * Takes no memory of the heap's, keeps errno. Nested, only the outermost counts.
 */
void pressure_begin(uint32_t owner);
void pressure_end(uint32_t owner);

/** pressure_look - within a long stall: count its time so far, and wake who waits for it */
void pressure_look(void);

/* Held over a fork; after the lock of groups. */
void pressure_lock(void);
void pressure_unlock(void);

/** pressure_forget_others - in a fork child, locked: no other thread exists any more */
void pressure_forget_others(void);

/** pressure_read - what a group's averages are now; all zero if nothing ever stalled */
void pressure_read(const struct umemcg *group, struct average *ret_average);

/** pressure_of - locked: a group's row, or NULL */
struct pressure *pressure_of(const struct umemcg *group);

/** pressure_make - locked: the same, made if it has none; NULL without memory */
struct pressure *pressure_make(struct umemcg *group, uint64_t now_ns);

/** pressure_account - locked: count a row's time until now, and wake who waits for it */
void pressure_account(struct pressure *pressure, uint64_t now_ns);

/** pressure_refresh - locked: the same, and see anew whether all threads are stalled */
void pressure_refresh(struct pressure *pressure, uint64_t now_ns);

#endif
