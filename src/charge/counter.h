/* SPDX-License-Identifier: MIT */
/*
 * The counter: how much a group and everything below it has charged, and how much it may.
 *
 * A counter's usage is never above its max: every add is a compare-and-swap that looks at max.
 * Lowering max below usage takes effect for the next add.
 */
#ifndef UMEMCG_CHARGE_COUNTER_H
#define UMEMCG_CHARGE_COUNTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/table.h"

#define COUNTER_MAX UINT64_MAX

/* No counter goes beyond this, limit or not, so that signed sums of charges never overflow. */
#define COUNTER_USAGE_MAX (((uint64_t)1 << 62) - 1)

#define COUNTER_MAX_DEPTH UINT16_MAX

/* The first row of the table. */
#define ROOT_COUNTER 1u

/* Candidates for the largest children: one more than are reported. */
#define COUNTER_NR_CANDIDATES 4

/* One cache line: rows are aligned to it. */
struct counter {
	uint32_t candidates;     /* row of them; 0: no child yet. The table's link while free */
	_Atomic uint32_t frozen; /* somebody decides here (charge/flight.h) */
	_Atomic uint32_t parent; /* id; 0 above the root */
	_Atomic uint16_t depth;  /* of the root: 0 */
	_Atomic uint16_t dying;  /* the group is being destroyed */
	_Atomic uint64_t usage;  /* bytes, stocks included */
	_Atomic uint64_t max;
	_Atomic uint64_t peak;         /* greatest usage so far */
	_Atomic uint64_t external;     /* explicit charges of the group itself, but for stocks' */
	_Atomic uint64_t nr_uncharges; /* times that usage or max changed so that more fits */
	_Atomic uint32_t limit;        /* row of what a limit brings; 0: never had one */
};

_Static_assert(sizeof(struct counter) == 64, "one cache line");

/* What only a counter with a limit needs. Row 0 is that of all others: no reserve, nothing
 * protected, no refusal. */
struct limit {
	uint32_t link;                 /* the table's, while the row is free */
	_Atomic uint64_t reserve;      /* bytes below max for threads that are in the reserve */
	_Atomic uint64_t min, low;     /* bytes of usage that reclaim spares; relaxed */
	_Atomic uint64_t high;         /* usage above which charging is slowed down; relaxed */
	_Atomic uint64_t refused_size; /* this size, or more, was refused ... */
	_Atomic uint64_t refused_at;   /* ... when nr_uncharges was this: it still does not fit */
};

/* Large children of a counter, for messages. Relaxed: a lost race costs a message its accuracy. */
struct candidates {
	/* The first is the table's link while the row is free. */
	_Atomic uint32_t ids[COUNTER_NR_CANDIDATES];
};

extern hidden struct table counter_table, candidates_table, limit_table;

int counter_table_init(void);

static inline struct counter *counter_row(uint32_t id)
{
	return table_row(&counter_table, id);
}

/*
 * Relaxed, here and for the depth: they never change while the group lives. Who walks all stocks
 * may meet a row that was given to another group since, and then counts what is just charged there,
 * or not.
 */
static inline uint32_t counter_parent(uint32_t id)
{
	return atomic_load_explicit(&counter_row(id)->parent, memory_order_relaxed);
}

static inline unsigned int counter_depth(uint32_t id)
{
	return atomic_load_explicit(&counter_row(id)->depth, memory_order_relaxed);
}

static inline struct candidates *counter_candidates(const struct counter *counter)
{
	return table_row(&candidates_table, counter->candidates);
}

static inline struct limit *counter_limit(const struct counter *counter)
{
	/* Acquire pairs with counter_make_limit(). */
	return table_row(&limit_table, atomic_load_explicit(&counter->limit, memory_order_acquire));
}

/** counter_make_limit - before the first limit or reserve; 0 or -ENOMEM. The caller serialises */
int counter_make_limit(uint32_t id);

/** counter_create - a counter without limit below @parent (0: the root); 0 if there is no memory */
uint32_t counter_create(uint32_t parent);
void counter_destroy(uint32_t id);

/** counter_is_below - is @id @top or below it? */
bool counter_is_below(uint32_t id, uint32_t top);

/* What charging does at one level, whosever it is (shared trees have theirs elsewhere). */
bool counter_try_add_here(struct counter *counter, uint64_t nr_bytes, uint64_t limit);
/** counter_undo_here - not counted as an uncharge: whoever decides below waits until we land */
void counter_undo_here(struct counter *counter, uint64_t nr_bytes);
void counter_note_peak(struct counter *counter);
/** counter_sub_here - clamped; returns what was taken off */
uint64_t counter_sub_here(struct counter *counter, uint64_t nr_bytes);
/** counter_more_may_fit - forget refusals that are remembered */
void counter_more_may_fit(struct counter *counter);

/**
 * counter_try_add - charge the counters from @id upwards, or none of them
 * @top:         the first one that is not charged; 0 to charge the root, too, and what is above it
 * @use_reserve: the thread may use the reserves
 *
 * In flight only.
 *
 * Return: 0, or the first level where it does not fit (charge/above.h).
 */
uint32_t counter_try_add(uint32_t id, uint32_t top, uint64_t nr_bytes, bool use_reserve);

/**
 * counter_sub - uncharge the counters from @id upwards, up to but not including @top (0: all)
 *
 * More than the first counter has is clamped there, reported, and not taken from those above.
 */
void counter_sub(uint32_t id, uint32_t top, uint64_t nr_bytes);

/** counter_forget - as counter_sub() up to the root; levels above that know it already */
void counter_forget(uint32_t id, uint64_t nr_bytes);

/** counter_common - the lowest counter that both are at or below */
uint32_t counter_common(uint32_t a, uint32_t b);

/** counter_limit_for - the most that a counter may ever have charged */
uint64_t counter_limit_for(uint32_t id, bool use_reserve);

/** counter_room - the most that fits at a counter itself, now */
uint64_t counter_room(uint32_t id, bool use_reserve);

/** counter_headroom - the most that fits at a counter and all above it, now */
uint64_t counter_headroom(uint32_t id, bool use_reserve);

/** counter_set_max - the caller serialises; the counter has its limit row */
void counter_set_max(uint32_t id, uint64_t max);
void counter_set_reserve(uint32_t id, uint64_t nr_bytes);

/*
 * A refusal is remembered, so that hammering at a full group decides nothing anew: until something
 * is given back at @id, @nr_bytes or more do not fit. While one is remembered on a path the
 * stocks below stay closed, so that everything given back is seen here.
 */
void counter_remember_refusal(uint32_t id, uint64_t nr_bytes, uint64_t nr_uncharges);

/** counter_refused - a level at @id or above that is known to refuse @nr_bytes, or 0 */
uint32_t counter_refused(uint32_t id, uint64_t nr_bytes);

#endif
