/* SPDX-License-Identifier: MIT */
#include "charge/counter.h"

#include <errno.h>
#include <stddef.h>

#include "base/compiler.h"
#include "charge/above.h"
#include "charge/charge.h"

#define NR_COUNTERS_MAX (1u << 24)

struct table counter_table, candidates_table, limit_table;

static struct counter first_counters[TABLE_NR_FIRST] aligned_to(CACHE_LINE);
static struct candidates first_candidates[TABLE_NR_FIRST];
static struct limit first_limits[TABLE_NR_FIRST] = { { .high = COUNTER_MAX } };

int counter_table_init(void)
{
	int r = table_init(&counter_table, sizeof(struct counter), NR_COUNTERS_MAX, first_counters);

	if (!r)
		r = table_init(&candidates_table, sizeof(struct candidates), NR_COUNTERS_MAX,
			       first_candidates);
	return r ? r
		 : table_init(&limit_table, sizeof(struct limit), NR_COUNTERS_MAX, first_limits);
}

static void set_defaults(struct limit *limit)
{
	atomic_store_explicit(&limit->reserve, 0, memory_order_relaxed);
	atomic_store_explicit(&limit->min, 0, memory_order_relaxed);
	atomic_store_explicit(&limit->low, 0, memory_order_relaxed);
	atomic_store_explicit(&limit->high, COUNTER_MAX, memory_order_relaxed);
	atomic_store_explicit(&limit->refused_size, 0, memory_order_relaxed);
	atomic_store_explicit(&limit->refused_at, 0, memory_order_relaxed);
}

int counter_make_limit(uint32_t id)
{
	struct counter *counter = counter_row(id);
	struct limit *limit;
	uint32_t row;

	if (atomic_load_explicit(&counter->limit, memory_order_relaxed))
		return 0;
	row = table_get(&limit_table);
	if (!row)
		return -ENOMEM;
	limit = table_row(&limit_table, row);
	set_defaults(limit);
	/* Release pairs with counter_limit(). */
	atomic_store_explicit(&counter->limit, row, memory_order_release);
	return 0;
}

/* The first child brings its parent the row, which stays with it. */
static bool make_candidates(uint32_t id)
{
	struct counter *counter = counter_row(id);
	struct candidates *candidates;
	uint32_t row;

	if (!id || counter->candidates)
		return true;
	row = table_get(&candidates_table);
	if (!row)
		return false;
	candidates = table_row(&candidates_table, row);
	for (unsigned int i = 0; i < COUNTER_NR_CANDIDATES; i++)
		atomic_store_explicit(&candidates->ids[i], 0, memory_order_relaxed);
	counter->candidates = row;
	return true;
}

uint32_t counter_create(uint32_t parent)
{
	struct counter *counter;
	uint32_t id;

	if (!make_candidates(parent))
		return 0;
	id = table_get(&counter_table);
	if (!id)
		return 0;
	counter = counter_row(id);
	counter->candidates = 0;
	/* Relaxed throughout: nobody knows this counter before its owner is made. */
	atomic_store_explicit(&counter->usage, 0, memory_order_relaxed);
	atomic_store_explicit(&counter->max, COUNTER_MAX, memory_order_relaxed);
	atomic_store_explicit(&counter->peak, 0, memory_order_relaxed);
	atomic_store_explicit(&counter->external, 0, memory_order_relaxed);
	atomic_store_explicit(&counter->nr_uncharges, 1, memory_order_relaxed);
	atomic_store_explicit(&counter->limit, 0, memory_order_relaxed);
	atomic_store_explicit(&counter->parent, parent, memory_order_relaxed);
	atomic_store_explicit(&counter->depth, parent ? counter_depth(parent) + 1 : 0,
			      memory_order_relaxed);
	atomic_store_explicit(&counter->dying, 0, memory_order_relaxed);
	/* `frozen` stays: 0, or held by one who froze the group that had the row, and thaws it. */
	return id;
}

void counter_destroy(uint32_t id)
{
	struct counter *counter = counter_row(id);
	uint32_t parent = counter_parent(id);
	struct candidates *its = parent ? counter_candidates(counter_row(parent)) : NULL;
	uint32_t row = counter->candidates;
	uint32_t limit = atomic_load_explicit(&counter->limit, memory_order_relaxed);

	for (unsigned int i = 0; its && i < COUNTER_NR_CANDIDATES; i++) {
		uint32_t gone = id;

		atomic_compare_exchange_strong_explicit(&its->ids[i], &gone, 0,
							memory_order_relaxed, memory_order_relaxed);
	}
	/* Whoever still waits here finds that the owner leads elsewhere. */
	atomic_store_explicit(&counter->dying, 0, memory_order_release);
	if (row)
		table_put(&candidates_table, row);
	if (limit)
		table_put(&limit_table, limit);
	table_put(&counter_table, id);
}

bool counter_is_below(uint32_t id, uint32_t top)
{
	uint32_t depth = counter_depth(top);

	while (id && id != top && counter_depth(id) > depth)
		id = counter_parent(id);
	return id == top;
}

uint32_t counter_common(uint32_t a, uint32_t b)
{
	while (a != b) {
		if (counter_depth(a) >= counter_depth(b))
			a = counter_parent(a);
		else
			b = counter_parent(b);
	}
	return a;
}

static uint64_t limit_of(const struct counter *counter, bool use_reserve)
{
	uint64_t max = atomic_load_explicit(&counter->max, memory_order_relaxed);
	uint64_t reserve;

	if (max > COUNTER_USAGE_MAX || use_reserve)
		return min(max, COUNTER_USAGE_MAX);
	reserve = atomic_load_explicit(&counter_limit(counter)->reserve, memory_order_relaxed);
	return reserve < max ? max - reserve : 0;
}

uint64_t counter_limit_for(uint32_t id, bool use_reserve)
{
	return limit_of(counter_row(id), use_reserve);
}

bool counter_try_add_here(struct counter *counter, uint64_t nr_bytes, uint64_t limit)
{
	uint64_t usage = atomic_load_explicit(&counter->usage, memory_order_relaxed);

	do {
		if (nr_bytes > limit || usage > limit - nr_bytes)
			return false;
		/* seq_cst: part of the order in which flights, freezes and decisions stand. */
	} while (!atomic_compare_exchange_weak_explicit(&counter->usage, &usage, usage + nr_bytes,
							memory_order_seq_cst,
							memory_order_relaxed));
	return true;
}

/* Keep the largest children among the candidates; a lost race costs a message its accuracy. */
static void note_candidate(struct counter *parent, uint32_t id)
{
	struct candidates *candidates = counter_candidates(parent);
	uint64_t usage = atomic_load_explicit(&counter_row(id)->usage, memory_order_relaxed);
	uint64_t smallest = UINT64_MAX;
	unsigned int place = 0;

	for (unsigned int i = 0; i < COUNTER_NR_CANDIDATES; i++) {
		uint32_t other = atomic_load_explicit(&candidates->ids[i], memory_order_relaxed);
		uint64_t its_usage = 0;

		if (other == id)
			return;
		if (other)
			its_usage = atomic_load_explicit(&counter_row(other)->usage,
							 memory_order_relaxed);
		if (its_usage < smallest) {
			smallest = its_usage;
			place = i;
		}
	}
	if (usage > smallest)
		atomic_store_explicit(&candidates->ids[place], id, memory_order_relaxed);
}

void counter_undo_here(struct counter *counter, uint64_t nr_bytes)
{
	atomic_fetch_sub_explicit(&counter->usage, nr_bytes, memory_order_seq_cst);
}

void counter_note_peak(struct counter *counter)
{
	uint64_t usage = atomic_load_explicit(&counter->usage, memory_order_relaxed);
	uint64_t peak = atomic_load_explicit(&counter->peak, memory_order_relaxed);

	while (usage > peak &&
	       !atomic_compare_exchange_weak_explicit(&counter->peak, &peak, usage,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

uint32_t counter_try_add(uint32_t id, uint32_t top, uint64_t nr_bytes, bool use_reserve)
{
	uint32_t at, full = 0;

	for (at = id; at != top; at = counter_parent(at)) {
		struct counter *counter = counter_row(at);

		if (!counter_try_add_here(counter, nr_bytes, limit_of(counter, use_reserve))) {
			full = at;
			break;
		}
	}
	if (!full && !top && charge_above)
		full = charge_above->try_add(nr_bytes, use_reserve);
	if (full) {
		for (uint32_t undo = id; undo != at; undo = counter_parent(undo))
			counter_undo_here(counter_row(undo), nr_bytes);
		return full;
	}
	for (at = id; at != top; at = counter_parent(at)) {
		struct counter *counter = counter_row(at);

		counter_note_peak(counter);
		if (counter_parent(at))
			note_candidate(counter_row(counter_parent(at)), at);
	}
	return 0;
}

void counter_more_may_fit(struct counter *counter)
{
	atomic_fetch_add_explicit(&counter->nr_uncharges, 1, memory_order_seq_cst);
}

uint64_t counter_sub_here(struct counter *counter, uint64_t nr_bytes)
{
	uint64_t usage = atomic_load_explicit(&counter->usage, memory_order_relaxed);
	uint64_t taken;

	do {
		taken = min(usage, nr_bytes);
	} while (!atomic_compare_exchange_weak_explicit(&counter->usage, &usage, usage - taken,
							memory_order_seq_cst,
							memory_order_relaxed));
	/*
	 * After the subtraction, so that a refusal that is remembered from before it is forgotten
	 * no later than the call that gives the bytes back returns.
	 */
	counter_more_may_fit(counter);
	return taken;
}

/* Returns what is to be taken off further up. */
static uint64_t sub(uint32_t id, uint32_t top, uint64_t nr_bytes)
{
	for (; id != top && nr_bytes; id = counter_parent(id)) {
		uint64_t taken = counter_sub_here(counter_row(id), nr_bytes);

		if (unlikely(taken < nr_bytes))
			charge_underflow(id, nr_bytes - taken);
		nr_bytes = taken;
	}
	return nr_bytes;
}

void counter_forget(uint32_t id, uint64_t nr_bytes)
{
	sub(id, 0, nr_bytes);
}

void counter_sub(uint32_t id, uint32_t top, uint64_t nr_bytes)
{
	nr_bytes = sub(id, top, nr_bytes);
	if (!top && nr_bytes && charge_above)
		charge_above->sub(nr_bytes);
}

uint64_t counter_room(uint32_t id, bool use_reserve)
{
	struct counter *counter = counter_row(id);
	uint64_t limit = limit_of(counter, use_reserve);
	uint64_t usage = atomic_load_explicit(&counter->usage, memory_order_relaxed);

	return limit > usage ? limit - usage : 0;
}

uint64_t counter_headroom(uint32_t id, bool use_reserve)
{
	uint64_t headroom = UINT64_MAX;

	for (; id; id = counter_parent(id))
		headroom = min(headroom, counter_room(id, use_reserve));
	return charge_above ? min(headroom, charge_above->headroom(use_reserve)) : headroom;
}

void counter_set_max(uint32_t id, uint64_t max)
{
	atomic_store_explicit(&counter_row(id)->max, max, memory_order_seq_cst);
	counter_more_may_fit(counter_row(id));
}

void counter_set_reserve(uint32_t id, uint64_t nr_bytes)
{
	atomic_store_explicit(&counter_limit(counter_row(id))->reserve, nr_bytes,
			      memory_order_seq_cst);
	counter_more_may_fit(counter_row(id));
}

void counter_remember_refusal(uint32_t id, uint64_t nr_bytes, uint64_t nr_uncharges)
{
	struct limit *limit = counter_limit(counter_row(id));

	/* Without a limit: the end of the range was met, which needs no remembering. */
	if (!atomic_load_explicit(&counter_row(id)->limit, memory_order_relaxed))
		return;
	/*
	 * In exclusive mode at @id, so there is one writer. A reader that sees the new size with
	 * the old refused_at finds that outdated; release pairs with the acquire in
	 * counter_refused().
	 */
	atomic_store_explicit(&limit->refused_at, 0, memory_order_relaxed);
	atomic_store_explicit(&limit->refused_size, nr_bytes, memory_order_release);
	atomic_store_explicit(&limit->refused_at, nr_uncharges, memory_order_release);
}

static bool refuses(struct counter *counter, uint64_t nr_bytes)
{
	struct limit *limit = counter_limit(counter);
	uint64_t at = atomic_load_explicit(&limit->refused_at, memory_order_acquire);
	uint64_t size = atomic_load_explicit(&limit->refused_size, memory_order_acquire);

	return size && nr_bytes >= size &&
	       at == atomic_load_explicit(&counter->nr_uncharges, memory_order_seq_cst) &&
	       at == atomic_load_explicit(&limit->refused_at, memory_order_relaxed);
}

uint32_t counter_refused(uint32_t id, uint64_t nr_bytes)
{
	while (id && !refuses(counter_row(id), nr_bytes))
		id = counter_parent(id);
	return id || !charge_above ? id : charge_above->refused(nr_bytes);
}
