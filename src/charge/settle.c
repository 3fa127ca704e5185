/* SPDX-License-Identifier: MIT */
#include "charge/settle.h"

#include "charge/above.h"
#include "charge/closing.h"
#include "charge/counter.h"
#include "charge/flight.h"
#include "charge/owner.h"

static void park_taken(struct stock *stock, struct stock_words *words)
{
	for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++) {
		stock->slow_gates[gate].nr_parked += words->taken[WORD_GATES + gate];
		stock->slow_gates[gate].nr_opened = 0;
		words->taken[WORD_GATES + gate] = 0;
	}
	words->in_hand = 0;
	stock->nr_gate_bytes = 0;
	stock->nr_ahead = STOCK_FIRST_AHEAD_BYTES;
	/* relaxed: landing releases it to whoever closes next. */
	atomic_store_explicit(&words->state, STOCK_SHUT, memory_order_relaxed);
}

/*
 * Of gates that were closed: the objects are listed as not charged, as after every closing. One of
 * them may be about to be refilled, by a caller who takes it for closed. Return: what they held.
 */
static uint64_t park_kept(struct stock *stock, struct stock_words *words)
{
	uint64_t nr_bytes = 0;

	for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++) {
		struct stock_slow_gate *slow = &stock->slow_gates[gate];
		uint64_t *taken = &words->taken[WORD_GATES + gate];

		if (!word_is_closed(word_get(stock_ready(stock, gate))))
			continue;
		nr_bytes += *taken * stock_gate_bytes[gate];
		slow->nr_parked += *taken;
		stock->nr_gate_bytes -= slow->nr_opened * stock_gate_bytes[gate];
		slow->nr_opened = 0;
		*taken = 0;
	}
	return nr_bytes;
}

/*
 * Whoever closed them died before anything was given back: all that they held is kept, and what
 * gates held is spare. By their owner only, whose plain instructions nobody else's stores may meet.
 */
static void open_again(struct stock *stock, struct stock_words *words)
{
	int64_t kept = (int64_t)(words->in_hand + park_kept(stock, words));

	for (unsigned int word = WORD_ROOM; word <= WORD_SPARE; word++) {
		if (word_is_closed(word_get(&words->words[word])))
			word_set(&words->words[word], (int64_t)words->taken[word]);
		words->taken[word] = 0;
	}
	word_set(stock_spare(stock), word_get(stock_spare(stock)) + kept);
	words->in_hand = 0;
	atomic_store_explicit(&words->state, STOCK_OPEN, memory_order_relaxed);
}

/* Another process gave it back above the root; here it is still in the books. */
static void book_given(struct stock *stock, uint64_t nr_bytes)
{
	uint32_t owner = stock_owner(stock);

	if (!nr_bytes)
		return;
	counter_forget(owner_counter(owner), nr_bytes);
	owner_uncharge_gone(owner, nr_bytes);
	charge_above->settle(nr_bytes);
}

static bool was_given(const struct stock_words *words)
{
	uint32_t state = atomic_load_explicit(&words->state, memory_order_relaxed);

	return state == STOCK_GIVEN ||
	       (state == STOCK_TAKEN && words->stamp == charge_above->round());
}

bool stock_was_left(const struct stock *stock)
{
	const struct stock_words *words = stock_words(stock);

	return atomic_load_explicit(&words->state, memory_order_relaxed) > STOCK_OPEN &&
	       words->stamp != STAMP_BOOKED && !was_given(words);
}

void stock_settle_closed(struct stock *stock)
{
	struct stock_words *words = stock_words(stock);

	words->stuck = 0;
	if (stock_was_left(stock)) {
		open_again(stock, words);
		return;
	}
	if (words->stamp != STAMP_BOOKED)
		book_given(stock, closing_bytes(words));
	park_taken(stock, words);
}

uint32_t stock_take_off(struct stock *stock)
{
	uint32_t counter = flight_begin(stock->flight, stock_owner(stock));

	stock_settle(stock);
	return counter;
}

uint32_t stock_try_take_off(struct stock *stock)
{
	uint32_t counter = flight_try_begin(stock->flight, stock_owner(stock));

	if (counter)
		stock_settle(stock);
	return counter;
}
