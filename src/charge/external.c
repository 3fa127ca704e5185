/* SPDX-License-Identifier: MIT */
/*
 * Explicit charges: how much each thread has charged, so that what is given back can be checked.
 *
 * A thread's own sum is a word of its stock; what it does not cover is taken from the counter's
 * sum, and, if that is not enough, all threads' words are closed and added there first.
 */
#include "charge/barrier.h"
#include "charge/charge.h"
#include "charge/closing.h"
#include "charge/counter.h"
#include "charge/owner.h"

/* In flight, as in merging: nobody gathers meanwhile. */
cold void stock_add_external_slowly(struct stock *stock, int64_t nr_bytes)
{
	uint32_t owner = atomic_load_explicit(&stock->owner, memory_order_relaxed);

	stock_word_restore(stock, &stock->external, -nr_bytes);
	flight_begin(stock->flight, owner);
	if (word_is_closed(word_look(&stock->external)))
		atomic_store_explicit(&stock->external, nr_bytes, memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&stock->external, nr_bytes, memory_order_relaxed);
	flight_end(stock->flight);
}

/* The group's own, or one whose heir it is: an heir inherits explicit charges as well. */
static bool is_charged_at(const struct stock *stock, uint32_t counter)
{
	/* Acquire pairs with stock_bind(). */
	uint32_t owner = atomic_load_explicit(&stock->owner, memory_order_acquire);

	return owner && owner_counter(owner) == counter;
}

/* Exclusive mode: what the threads know of a group's explicit charges goes to its counter. */
static void gather(uint32_t counter)
{
	struct stock *stock;
	bool again;

	do {
		again = false;
		for_each_stock(stock)
		{
			enum outcome outcome;
			int64_t taken;

			if (!is_charged_at(stock, counter))
				continue;
			stock_lock(stock);
			taken = word_take(&stock->external);
			barrier_all_threads();
			outcome = word_settle(&stock->external, &taken);
			stock_unlock(stock);
			if (outcome == TAKEN)
				atomic_fetch_add_explicit(&counter_row(counter)->external, taken,
							  memory_order_relaxed);
			again |= outcome == OWNER_COMES;
		}
	} while (again);
}

/* From the counter's own; returns what was there, at most @nr_bytes. */
static uint64_t take_from_counter(struct counter *counter, uint64_t nr_bytes)
{
	uint64_t external = atomic_load_explicit(&counter->external, memory_order_relaxed);
	uint64_t taken;

	do {
		taken = min(external, nr_bytes);
	} while (!atomic_compare_exchange_weak_explicit(&counter->external, &external,
							external - taken, memory_order_relaxed,
							memory_order_relaxed));
	return taken;
}

int stock_take_external(struct stock *stock, uint64_t nr_bytes, uint64_t *ret_taken)
{
	uint32_t owner = atomic_load_explicit(&stock->owner, memory_order_relaxed);
	uint64_t taken;
	uint32_t id;
	int r;

	*ret_taken = nr_bytes;
	if (stock_word_take(stock, &stock->external, (int64_t)nr_bytes))
		return 0;
	id = owner_counter(owner);
	taken = take_from_counter(counter_row(id), nr_bytes);
	if (taken == nr_bytes)
		return 0;
	/* Other threads charged it, or nobody did: look everywhere. */
	r = charge_stop_below(stock->flight, id);
	if (!r) {
		gather(id);
		taken += take_from_counter(counter_row(id), nr_bytes - taken);
		charge_go_on(stock->flight, id);
	}
	*ret_taken = taken;
	return r;
}

uint64_t external_bytes(uint32_t counter)
{
	uint64_t nr_bytes =
		atomic_load_explicit(&counter_row(counter)->external, memory_order_relaxed);
	struct stock *stock;

	for_each_stock(stock)
	{
		int64_t external = word_look(&stock->external);

		if (external > 0 && is_charged_at(stock, counter))
			nr_bytes += external;
	}
	return nr_bytes;
}

uint64_t external_in_stocks(uint32_t counter)
{
	struct stock *stock;
	uint64_t nr_bytes = 0;

	for_each_stock(stock)
	{
		int64_t external = word_look(&stock->external);

		if (external > 0 && stock_owner_below(stock, counter))
			nr_bytes += external;
	}
	return nr_bytes;
}
