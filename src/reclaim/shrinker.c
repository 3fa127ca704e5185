/* SPDX-License-Identifier: MIT */
#include "reclaim/shrinker.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/system.h"
#include "base/table.h"
#include "charge/counter.h"
#include "group/group.h"
#include "reclaim/asking.h"
#include "reclaim/callback.h"
#include "reclaim/holdings.h"
#include "reclaim/reclaim.h"

#define NR_SHRINKERS_MAX (1u << 20)

static struct table shrinker_table;

static struct umemcg_shrinker *shrinker_row(uint32_t row)
{
	return row ? table_row(&shrinker_table, row) : NULL;
}

static uint32_t row_of(const struct umemcg_shrinker *shrinker)
{
	return (uint32_t)(((const char *)shrinker - shrinker_table.rows) / sizeof(*shrinker));
}

static void list_add(struct holdings *holdings, struct umemcg_shrinker *shrinker)
{
	uint32_t row = row_of(shrinker), first = holdings->first_shrinker;

	shrinker->prev = 0;
	shrinker->next = first;
	if (first)
		shrinker_row(first)->prev = row;
	holdings->first_shrinker = row;
}

static void list_remove(struct umemcg_shrinker *shrinker)
{
	struct holdings *holdings = holdings_row(holdings_live(&shrinker->holdings));

	if (shrinker->next)
		shrinker_row(shrinker->next)->prev = shrinker->prev;
	if (shrinker->prev)
		shrinker_row(shrinker->prev)->next = shrinker->next;
	else
		holdings->first_shrinker = shrinker->next;
}

/* In front, so that it takes as long as the list that is handed on. */
void shrinker_bequeath(struct holdings *from, struct holdings *to)
{
	uint32_t last = from->first_shrinker;

	if (!last)
		return;
	while (shrinker_row(last)->next)
		last = shrinker_row(last)->next;
	shrinker_row(last)->next = to->first_shrinker;
	if (to->first_shrinker)
		shrinker_row(to->first_shrinker)->prev = last;
	to->first_shrinker = from->first_shrinker;
	from->first_shrinker = 0;
}

static int add_locked(struct umemcg *group, const struct umemcg_shrinker *wanted,
		      struct umemcg_shrinker **ret_shrinker)
{
	struct umemcg_shrinker *shrinker;
	uint32_t row, holdings;
	int r;

	if (!shrinker_table.rows &&
	    table_init(&shrinker_table, sizeof(*shrinker), NR_SHRINKERS_MAX, NULL))
		return -ENOMEM;
	row = table_get(&shrinker_table);
	if (!row)
		return -ENOMEM;
	r = holdings_get(group, &holdings);
	if (r) {
		table_put(&shrinker_table, row);
		return r;
	}
	shrinker = shrinker_row(row);
	*shrinker = *wanted;
	shrinker->holdings = holdings;
	list_add(holdings_row(holdings), shrinker);
	*ret_shrinker = shrinker;
	return 0;
}

int shrinker_register(struct umemcg *group, const struct umemcg_shrinker_ops *ops, void *arg,
		      unsigned int flags, struct umemcg_shrinker **ret_shrinker)
{
	struct umemcg_shrinker wanted = { .ops = *ops, .arg = arg, .flags = flags };
	int r = flags & UMEMCG_SHRINKER_THREAD ? asking_prepare() : 0;

	if (r)
		return r;
	holdings_lock();
	r = add_locked(group, &wanted, ret_shrinker);
	holdings_unlock();
	if (!r)
		atomic_store_explicit(&reclaim_is_possible, true, memory_order_relaxed);
	return r;
}

void shrinker_pin(struct umemcg_shrinker *shrinker)
{
	shrinker->nr_pins++;
}

void shrinker_unpin(struct umemcg_shrinker *shrinker)
{
	if (--shrinker->nr_pins || !shrinker->is_gone)
		return;
	list_remove(shrinker);
	holdings_put(shrinker->holdings);
	shrinker->ops.count = NULL;
	table_put(&shrinker_table, row_of(shrinker));
}

/* A callback that unregisters its own shrinker does not wait for itself. */
void shrinker_unregister(struct umemcg_shrinker *shrinker)
{
	uint32_t nr_own = callback_nr_own(shrinker);

	holdings_lock();
	shrinker_pin(shrinker);
	shrinker->is_gone = true;
	asking_cancel(shrinker);
	while (shrinker->nr_running > nr_own)
		holdings_wait(UINT64_MAX);
	shrinker_unpin(shrinker);
	holdings_unlock();
}

uint64_t shrinker_call(struct flight *flight, struct umemcg_shrinker *shrinker,
		       struct umemcg *group, uint64_t nr_bytes)
{
	struct callback callback;
	uint64_t result = 0;

	holdings_lock();
	if (shrinker->is_gone) {
		holdings_unlock();
		return 0;
	}
	shrinker->nr_running++;
	holdings_unlock();
	callback_begin(&callback, flight, shrinker, NULL);
	if (nr_bytes)
		result = shrinker->ops.scan(group, nr_bytes, shrinker->arg);
	else
		result = shrinker->ops.count(group, shrinker->arg);
	callback_end(&callback, flight);
	holdings_lock();
	shrinker->nr_running--;
	holdings_wake();
	holdings_unlock();
	return result;
}

/*
 * Locked: the first shrinker at a counter or above. Groups may be destroyed meanwhile: then some
 * are met twice, or not this time.
 */
static uint32_t first_from(uint32_t counter)
{
	for (; counter; counter = counter_parent(counter)) {
		uint32_t row = holdings_of(group_row(counter));

		if (row && holdings_row(row)->first_shrinker)
			return holdings_row(row)->first_shrinker;
	}
	return 0;
}

/* The next one that covers a group, pinned; the one before it, or NULL, is let go. */
static struct umemcg_shrinker *next(struct umemcg *group, struct umemcg_shrinker *before)
{
	uint32_t row;
	struct umemcg_shrinker *found;

	holdings_lock();
	if (!before)
		row = first_from(group->id);
	else if (!(row = before->next))
		row = first_from(
			counter_parent(holdings_row(holdings_live(&before->holdings))->group));
	found = shrinker_row(row);
	if (found)
		shrinker_pin(found);
	if (before)
		shrinker_unpin(before);
	holdings_unlock();
	return found;
}

/* One that wants a thread of the library's is waited for, but not for long. */
static uint64_t call(struct flight *flight, struct umemcg_shrinker *shrinker, struct umemcg *group,
		     uint64_t nr_bytes, uint64_t deadline_ns)
{
	if (shrinker->flags & UMEMCG_SHRINKER_THREAD)
		return asking_call(shrinker, group, nr_bytes, deadline_ns);
	return system_now_ns() < deadline_ns ? shrinker_call(flight, shrinker, group, nr_bytes) : 0;
}

/* What a scan measures itself by. Relaxed: others charge meanwhile. */
static uint64_t usage_of(const struct umemcg *group)
{
	return atomic_load_explicit(&group_counter(group)->usage, memory_order_relaxed);
}

/* What it says may be anything; but nobody has more than is charged. */
static uint64_t count_one(struct flight *flight, struct umemcg_shrinker *shrinker,
			  struct umemcg *group, uint64_t deadline_ns)
{
	uint64_t nr_bytes = call(flight, shrinker, group, 0, deadline_ns);

	return min(nr_bytes, usage_of(group));
}

uint64_t shrinker_count(struct flight *flight, struct umemcg *group, uint64_t deadline_ns)
{
	struct umemcg_shrinker *shrinker = NULL;
	uint64_t nr_bytes = 0;

	while ((shrinker = next(group, shrinker)))
		nr_bytes = min(nr_bytes + count_one(flight, shrinker, group, deadline_ns),
			       (uint64_t)1 << 63);
	return nr_bytes;
}

/* Return: what one gave back, measured; a stock may have it at first. */
static uint64_t scan_one(struct flight *flight, struct umemcg_shrinker *shrinker,
			 struct umemcg *group, uint64_t nr_bytes, uint64_t deadline_ns)
{
	uint64_t before = usage_of(group);

	if (!call(flight, shrinker, group, nr_bytes, deadline_ns) || !group_is_live(group))
		return 0;
	if (usage_of(group) + nr_bytes > before)
		group_drain(flight, group);
	return before - min(before, usage_of(group));
}

/*
 * From the one whose turn it is, which it is as often as it has much; what that does not give, from
 * the others: first those behind it, then those before it.
 */
void shrinker_scan(struct flight *flight, struct umemcg *group, uint64_t nr_bytes, uint64_t at,
		   uint64_t deadline_ns)
{
	uint64_t nr_left = nr_bytes;

	for (unsigned int pass = 0; pass < 2 && nr_left; pass++) {
		struct umemcg_shrinker *shrinker = NULL;
		uint64_t sum = 0;

		while ((shrinker = next(group, shrinker))) {
			uint64_t its = 0;

			if (nr_left && group_is_live(group))
				its = count_one(flight, shrinker, group, deadline_ns);
			sum += its;
			if (its && (sum > at) == (pass == 0))
				nr_left -= min(nr_left, scan_one(flight, shrinker, group, nr_left,
								 deadline_ns));
		}
	}
}

/* A thread that was lost had a shrinker pinned for as long as it was at it. */
void shrinker_forget_others(void)
{
	/* Relaxed: nobody else is here. */
	uint32_t nr_used = atomic_load_explicit(&shrinker_table.nr_used, memory_order_relaxed);

	for (uint32_t row = 1; row < nr_used; row++) {
		struct umemcg_shrinker *shrinker = shrinker_row(row);
		uint32_t nr_own = callback_nr_own(shrinker);

		if (!shrinker->ops.count)
			continue;
		/* It is pinned by who goes through the list, whose callback this is. */
		shrinker->nr_running = nr_own;
		shrinker->nr_pins = nr_own;
	}
}
