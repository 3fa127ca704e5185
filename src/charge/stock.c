/* SPDX-License-Identifier: MIT */
#include "charge/stock.h"

#include <errno.h>

#include "charge/charge.h"
#include "charge/counter.h"
#include "charge/open.h"
#include "charge/overage.h"
#include "charge/owner.h"
#include "charge/settle.h"

uint32_t stock_gate_bytes[STOCK_NR_GATES];

uint32_t stock_owner_below(const struct stock *stock, uint32_t counter)
{
	/* Acquire pairs with stock_bind(). */
	uint32_t owner = atomic_load_explicit(&stock->owner, memory_order_acquire);

	return owner && counter_is_below(owner_counter(owner), counter) ? owner : 0;
}

/* For a stock that nobody but the caller can be looking at. */
static void close_quietly(struct stock *stock)
{
	for (unsigned int word = 0; word < STOCK_NR_WORDS; word++)
		word_set(&stock_words(stock)->words[word], WORD_CLOSED);
}

void stock_init_closed(struct stock *stock)
{
	close_quietly(stock);
}

void stock_init(struct stock *stock, struct flight *flight)
{
	struct stock *first = atomic_load_explicit(&flight->stocks, memory_order_relaxed);

	close_quietly(stock);
	stock->flight = flight;
	stock->next = first;
	/* Only the thread pushes. Release pairs with the acquire of whoever walks the list. */
	atomic_store_explicit(&flight->stocks, stock, memory_order_release);
}

/* Of a stock that never asks all listed objects are ready. */
static void unpark_all(struct stock *stock, unsigned int gate)
{
	word_set(stock_ready(stock, gate), stock->slow_gates[gate].nr_parked);
	stock->slow_gates[gate].nr_parked = 0;
}

/* The gate is to be closed. Return: objects that were charged, and are only listed from now on. */
static uint64_t park_all(struct stock *stock, unsigned int gate)
{
	uint64_t nr_ready = max(word_get(stock_ready(stock, gate)), (int64_t)0);

	stock->slow_gates[gate].nr_parked += nr_ready;
	stock->slow_gates[gate].nr_opened = 0;
	return nr_ready;
}

void stock_bind(struct stock *stock, uint32_t owner)
{
	if (!owner) {
		stock->unlimited = 1;
		word_set(stock_room(stock), WORD_UNLIMITED);
		word_set(stock_spare(stock), WORD_UNLIMITED);
		for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++)
			unpark_all(stock, gate);
		return;
	}
	stock->unlimited = 0;
	stock->nr_ahead = STOCK_FIRST_AHEAD_BYTES;
	word_set(stock_external(stock), 0);
	/* Closed and empty, so nothing of it can be taken before a flight opens it. */
	atomic_store_explicit(&stock->owner, owner, memory_order_release);
}

void stock_unbind(struct stock *stock)
{
	uint64_t nr_bytes = 0;
	uint32_t counter;
	int64_t external;

	if (stock->unlimited || !stock_owner(stock)) {
		for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++)
			park_all(stock, gate);
		stock->unlimited = 0;
		close_quietly(stock);
		return;
	}
	counter = stock_take_off(stock);
	stock_merge_room(stock, counter);
	if (word_get(stock_spare(stock)) > 0)
		nr_bytes += word_get(stock_spare(stock));
	for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++)
		nr_bytes += park_all(stock, gate) * stock_gate_bytes[gate];
	external = word_get(stock_external(stock));
	if (external > 0)
		atomic_fetch_add_explicit(&counter_row(counter)->external, external,
					  memory_order_relaxed);
	/* relaxed: landing releases it to whoever closes next. */
	atomic_store_explicit(&stock_words(stock)->state, STOCK_SHUT, memory_order_relaxed);
	stock->nr_gate_bytes = 0;
	close_quietly(stock);
	stock_give_back(stock, counter, nr_bytes);
	atomic_store_explicit(&stock->owner, 0, memory_order_release);
	flight_end(stock->flight);
}

void stock_forget_gate(struct stock *stock, unsigned int gate)
{
	int64_t nr_ready;

	if (stock->unlimited || !stock_owner(stock)) {
		stock->slow_gates[gate].nr_parked = 0;
		if (stock->unlimited)
			word_set(stock_ready(stock, gate), 0);
		return;
	}
	stock_take_off(stock);
	stock->slow_gates[gate].nr_parked = 0;
	nr_ready = word_get(stock_ready(stock, gate));
	if (nr_ready > 0) {
		word_set(stock_spare(stock),
			 word_get(stock_spare(stock)) + nr_ready * stock_gate_bytes[gate]);
		word_set(stock_ready(stock, gate), 0);
	}
	flight_end(stock->flight);
}

/* In flight: as refill_gate(), for bytes. */
static uint32_t charge_from_books(struct stock *stock, uint64_t nr_bytes, uint32_t counter,
				  bool stay_closed)
{
	uint64_t ahead = 0;
	uint32_t at;

	if (!stay_closed && nr_bytes <= STOCK_BATCH_BYTES)
		ahead = stock_ahead_bytes(counter, stock_use_reserve(stock), nr_bytes);
	at = counter_try_add(counter, 0, nr_bytes + ahead, stock_use_reserve(stock));
	if (at && ahead) {
		ahead = 0;
		at = counter_try_add(counter, 0, nr_bytes, stock_use_reserve(stock));
	}
	if (at)
		return at;
	owner_charge_gone(stock_owner(stock), nr_bytes + ahead);
	overage_note(stock->flight, counter, nr_bytes + ahead);
	if (!stay_closed) {
		stock_open(stock);
		word_set(stock_spare(stock), word_get(stock_spare(stock)) + ahead);
	}
	return 0;
}

int stock_charge(struct stock *stock, uint64_t nr_bytes)
{
	if (stock->unlimited)
		return 0;
	for (;;) {
		uint32_t counter = stock_take_off(stock);
		uint32_t at = stock_use_reserve(stock) ? 0 : counter_refused(counter, nr_bytes);
		bool decided = at != 0;

		stock_merge_room(stock, counter);
		if (!at) {
			int64_t spare = word_get(stock_spare(stock));

			if (spare >= 0 && (uint64_t)spare >= nr_bytes)
				word_set(stock_spare(stock), spare - nr_bytes);
			else
				at = charge_from_books(stock, nr_bytes, counter,
						       stock_must_stay_closed(counter));
		}
		flight_end(stock->flight);
		if (!at || (!decided &&
			    !charge_decide(stock->flight, stock_owner(stock), nr_bytes, at, &at)))
			return 0;
		if (decided && !charge_is_refused(at, nr_bytes))
			continue;
		charge_refused(stock->flight, at, stock_owner(stock), nr_bytes);
		return -ENOMEM;
	}
}

void stock_uncharge(struct stock *stock, uint64_t nr_bytes)
{
	uint32_t counter;

	if (stock->unlimited)
		return;
	counter = stock_try_take_off(stock);
	/* A thread that only frees opens its stock here; not for a group that is gone. */
	if (counter && word_get(stock_room(stock)) < 0 && !owner_is_gone(stock_owner(stock)) &&
	    !stock_must_stay_closed(counter))
		stock_open(stock);
	if (!counter || word_get(stock_room(stock)) < 0) {
		/* To stay closed, or being decided upon: a free neither waits nor opens then. */
		if (counter)
			flight_end(stock->flight);
		owner_uncharge(stock->flight, stock_owner(stock), nr_bytes);
		return;
	}
	stock_merge_room(stock, counter);
	if (nr_bytes <= STOCK_ROOM_BYTES)
		word_set(stock_room(stock), STOCK_ROOM_BYTES - (int64_t)nr_bytes);
	else
		stock_give_back(stock, counter, nr_bytes);
	flight_end(stock->flight);
}
