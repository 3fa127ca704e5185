/* SPDX-License-Identifier: MIT */
#include "charge/drain.h"

#include "charge/barrier.h"
#include "charge/counter.h"
#include "charge/owner.h"
#include "charge/stock.h"

/* Before the barrier; keeps the lock. */
static void begin_closing(struct stock *stock)
{
	word_lock(stock);
	stock->taken_room = word_take(&stock->room);
	stock->taken_spare = word_take(&stock->spare);
	for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++)
		stock->slow_gates[gate].taken = word_take(&stock->gates[gate].nr_ready);
}

/*
 * After the barrier; gives the lock back. What the gates held stays in their `taken`. False if a
 * word has to be closed again once the owner has put it right.
 */
static bool settle_words(struct stock *stock, uint64_t *ret_bytes)
{
	enum outcome room = word_settle(&stock->room, &stock->taken_room);
	enum outcome spare = word_settle(&stock->spare, &stock->taken_spare);
	bool closed = room != OWNER_COMES && spare != OWNER_COMES;

	if (room == TAKEN)
		*ret_bytes += STOCK_ROOM_BYTES - stock->taken_room;
	if (spare == TAKEN)
		*ret_bytes += stock->taken_spare;
	for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++) {
		int64_t *taken = &stock->slow_gates[gate].taken;
		enum outcome outcome = word_settle(&stock->gates[gate].nr_ready, taken);

		if (outcome != TAKEN)
			*taken = 0;
		closed &= outcome != OWNER_COMES;
	}
	word_unlock(stock);
	return closed;
}

/*
 * Until the owner has landed from a move that it may have begun before the words were closed. One
 * that begins later finds them closed, and leaves everything alone.
 */
static void wait_for_move(const struct stock *stock)
{
	/* seq_cst, after the barrier; acquire, for what the move wrote. Partner: set_moving(). */
	for (unsigned int round = 0; atomic_load_explicit(&stock->moving, memory_order_seq_cst);
	     round++)
		pause_briefly(round);
}

/* False if a word has to be closed again; adds what the closed ones held to ret_bytes. */
static bool finish_closing(struct stock *stock, uint64_t *ret_bytes)
{
	bool closed = settle_words(stock, ret_bytes);

	wait_for_move(stock);
	*ret_bytes += stock->in_hand;
	stock->in_hand = 0;
	for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++) {
		struct stock_slow_gate *slow = &stock->slow_gates[gate];

		*ret_bytes += (uint64_t)slow->taken * stock_gate_bytes[gate];
		slow->nr_parked += slow->taken;
		slow->nr_opened = 0;
	}
	stock->nr_gate_bytes = 0;
	stock->nr_ahead = STOCK_FIRST_AHEAD_BYTES;
	if (closed)
		stock->is_open = false;
	return closed;
}

static void give_back(uint32_t owner, uint64_t nr_bytes)
{
	if (!nr_bytes)
		return;
	counter_sub(owner_counter(owner), 0, nr_bytes);
	owner_uncharge_gone(owner, nr_bytes);
}

/* One barrier serves all stocks that are open; true if none is any more. */
static bool close_once(uint32_t counter)
{
	struct stock *stock, *begun = NULL;
	bool all_closed = true;

	for_each_stock(stock)
	{
		if (!stock_owner_below(stock, counter) || !stock->is_open)
			continue;
		begin_closing(stock);
		stock->next_begun = begun;
		begun = stock;
	}
	if (begun)
		barrier_all_threads();
	while (begun) {
		uint32_t owner = atomic_load_explicit(&begun->owner, memory_order_relaxed);
		uint64_t nr_bytes = 0;

		stock = begun;
		begun = stock->next_begun;
		all_closed &= finish_closing(stock, &nr_bytes);
		give_back(owner, nr_bytes);
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
	int64_t room = word_look(&stock->room), spare = word_look(&stock->spare);
	uint64_t nr_bytes = 0;

	if (!word_is_closed(room))
		nr_bytes += STOCK_ROOM_BYTES - room;
	if (spare > 0)
		nr_bytes += spare;
	for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++) {
		int64_t nr_ready = word_look(&stock->gates[gate].nr_ready);

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
