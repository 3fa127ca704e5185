/* SPDX-License-Identifier: MIT */
#include "charge/drain.h"

#include "charge/barrier.h"
#include "charge/closing.h"
#include "charge/counter.h"
#include "charge/owner.h"
#include "charge/pause.h"
#include "charge/settle.h"
#include "charge/stock.h"

static void give_back(uint32_t owner, uint64_t nr_bytes)
{
	if (!nr_bytes)
		return;
	counter_sub(owner_counter(owner), 0, nr_bytes);
	owner_uncharge_gone(owner, nr_bytes);
}

/* Take the words of all stocks that may be open. Return: a list of those stocks. */
static struct stock *take_below(uint32_t counter)
{
	struct stock *stock, *taken = NULL;

	for_each_stock(stock)
	{
		if (!stock_owner_below(stock, counter))
			continue;
		/*
		 * What another process took counts here until it is settled; what one left that
		 * died is taken as it is.
		 */
		if (!stock_was_left(stock)) {
			if (stock_words(stock)->stamp != STAMP_BOOKED)
				stock_settle(stock);
			if (!closing_is_needed(stock_words(stock)))
				continue;
		}
		closing_take(stock_words(stock), STAMP_BOOKED);
		stock->next_taken = taken;
		taken = stock;
	}
	return taken;
}

/* One barrier serves all stocks that are open; true if none is any more. */
static bool close_once(uint32_t counter)
{
	struct stock *taken = take_below(counter);
	bool all_closed = true;

	if (taken)
		barrier_all_threads();
	for (; taken; taken = taken->next_taken) {
		uint64_t nr_bytes;

		if (closing_end(stock_words(taken), &nr_bytes))
			give_back(stock_owner(taken), nr_bytes);
		else
			all_closed = false;
	}
	return all_closed;
}

void drain_below(uint32_t counter)
{
	for (unsigned int round = 0; !close_once(counter); round++)
		pause_briefly(round);
}

static uint64_t bytes_in(const struct stock *stock)
{
	int64_t room = word_look(stock_room(stock)), spare = word_look(stock_spare(stock));
	uint64_t nr_bytes = 0;

	if (!word_is_closed(room))
		nr_bytes += STOCK_ROOM_BYTES - room;
	if (spare > 0)
		nr_bytes += spare;
	for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++) {
		int64_t nr_ready = word_look(stock_ready(stock, gate));

		if (nr_ready > 0)
			nr_bytes += (uint64_t)nr_ready * stock_gate_bytes[gate];
	}
	return nr_bytes;
}

uint64_t drain_bytes_below(uint32_t counter)
{
	struct stock *stock;
	uint64_t nr_bytes = 0;

	for_each_stock(stock)
	{
		if (stock_owner_below(stock, counter))
			nr_bytes += bytes_in(stock);
	}
	return nr_bytes;
}
