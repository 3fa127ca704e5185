/* SPDX-License-Identifier: MIT */
#include "charge/external.h"

#include "charge/barrier.h"
#include "charge/charge.h"
#include "charge/counter.h"
#include "charge/flight.h"
#include "charge/owner.h"
#include "charge/pause.h"

/* In flight, as in merging: nobody gathers meanwhile. */
static cold void add_slowly(struct stock *stock, int64_t nr_bytes)
{
	stock_word *external = stock_external(stock);

	word_restore(external, -nr_bytes);
	flight_begin(stock->flight, stock_owner(stock));
	if (word_is_closed(word_get(external)))
		word_set(external, nr_bytes);
	else
		word_set(external, word_get(external) + nr_bytes);
	flight_end(stock->flight);
}

/* The bytes are charged; the thread's own sum is closed. */
cold int external_count_slowly(struct stock *stock, uint64_t nr_bytes)
{
	add_slowly(stock, (int64_t)nr_bytes);
	return 0;
}

static void add(struct stock *stock, int64_t nr_bytes)
{
	if (unlikely(!word_add(stock_external(stock), nr_bytes)))
		add_slowly(stock, nr_bytes);
}

noinline int external_try_charge_slowly(struct stock *stock, uint64_t nr_bytes)
{
	int r;

	word_restore(stock_spare(stock), (int64_t)nr_bytes);
	r = stock_charge(stock, nr_bytes);
	if (!r)
		add(stock, (int64_t)nr_bytes);
	return r;
}

noinline void external_keep_slowly(struct stock *stock, uint64_t nr_bytes)
{
	stock_undo_keep(stock, nr_bytes);
	stock_uncharge(stock, nr_bytes);
}

/* The group's own, or one whose heir it is: an heir inherits explicit charges as well. */
static bool is_charged_at(const struct stock *stock, uint32_t counter)
{
	/* Acquire pairs with stock_bind(). */
	uint32_t owner = atomic_load_explicit(&stock->owner, memory_order_acquire);

	return owner && owner_counter(owner) == counter;
}

/* True if a barrier is to follow. What was recorded before was added already: it is 0. */
static bool close_externals(uint32_t counter)
{
	struct stock *stock;
	bool any_open = false;

	for_each_stock(stock)
	{
		stock_word *external = stock_external(stock);

		if (word_is_closed(word_look(external)) || !is_charged_at(stock, counter))
			continue;
		any_open = true;
		word_close(external, false, &stock_words(stock)->taken[WORD_EXTERNAL]);
	}
	return any_open;
}

static void add_externals(uint32_t counter)
{
	struct stock *stock;

	for_each_stock(stock)
	{
		uint64_t *taken = &stock_words(stock)->taken[WORD_EXTERNAL];

		if (!word_is_closed(word_look(stock_external(stock))) ||
		    !is_charged_at(stock, counter))
			continue;
		atomic_fetch_add_explicit(&counter_row(counter)->external, *taken,
					  memory_order_relaxed);
		*taken = 0;
	}
}

/* Exclusive mode: what the threads know of a group's explicit charges goes to its counter. */
static void gather(uint32_t counter)
{
	for (unsigned int round = 0; close_externals(counter); round++) {
		barrier_all_threads();
		add_externals(counter);
		pause_briefly(round);
	}
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

/*
 * Is so much charged explicitly, here or by other threads? Takes it if so; *ret_taken: bytes that
 * were there, at most @nr_bytes.
 *
 * Return: 0; -ETIME if a stopped thread kept us from looking at all of them.
 */
static noinline int take(struct stock *stock, uint64_t nr_bytes, uint64_t *ret_taken)
{
	uint64_t taken;
	uint32_t id;
	int r;

	*ret_taken = nr_bytes;
	if (word_try_subtract(stock_external(stock), (int64_t)nr_bytes))
		return 0;
	id = owner_counter(stock_owner(stock));
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

/* More than this thread charged itself: what others charged is looked for, and no more taken. */
noinline void external_uncharge_slowly(struct stock *stock, uint64_t nr_bytes)
{
	uint64_t charged;

	word_restore(stock_external(stock), (int64_t)nr_bytes);
	/* What could not be looked for stays charged: it is not known to be a fault of the program.
	 */
	if (!take(stock, nr_bytes, &charged) && charged < nr_bytes)
		charge_underflow(owner_counter(stock_owner(stock)), nr_bytes - charged);
	if (!stock_put_bytes(stock, charged))
		stock_uncharge(stock, charged);
}

uint64_t external_bytes(uint32_t counter)
{
	uint64_t nr_bytes =
		atomic_load_explicit(&counter_row(counter)->external, memory_order_relaxed);
	struct stock *stock;

	for_each_stock(stock)
	{
		int64_t external = word_look(stock_external(stock));

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
		int64_t external = word_look(stock_external(stock));

		if (external > 0 && stock_owner_below(stock, counter))
			nr_bytes += external;
	}
	return nr_bytes;
}
