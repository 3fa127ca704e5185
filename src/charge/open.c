/* SPDX-License-Identifier: MIT */
#include "charge/open.h"

#include "charge/above.h"
#include "charge/barrier.h"
#include "charge/counter.h"
#include "charge/owner.h"

/*
 * No refusal is remembered above: the words may serve again. All gates are opened,
 * empty, so that the first refill of each of the others can do without a flight.
 */
void stock_open(struct stock *stock)
{
	if (word_get(stock_room(stock)) >= 0)
		return;
	/* relaxed: landing releases it to whoever closes next. */
	atomic_store_explicit(&stock_words(stock)->state, STOCK_OPEN, memory_order_relaxed);
	word_set(stock_spare(stock), 0);
	word_set(stock_room(stock), STOCK_ROOM_BYTES);
	for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++)
		word_set(stock_ready(stock, gate), 0);
}

void stock_give_back(struct stock *stock, uint32_t counter, uint64_t nr_bytes)
{
	if (!nr_bytes)
		return;
	owner_uncharge_gone(stock_owner(stock), nr_bytes);
	counter_sub(counter, 0, nr_bytes);
}

void stock_merge_room(struct stock *stock, uint32_t counter)
{
	int64_t room = word_get(stock_room(stock)), spare;

	if (room < 0)
		return;
	spare = word_get(stock_spare(stock)) + ((int64_t)STOCK_ROOM_BYTES - room);
	word_set(stock_room(stock), STOCK_ROOM_BYTES);
	if (spare > (int64_t)STOCK_SPARE_BYTES) {
		stock_give_back(stock, counter, spare - STOCK_SPARE_BYTES / 2);
		spare = STOCK_SPARE_BYTES / 2;
	}
	word_set(stock_spare(stock), spare);
}

/*
 * How much may be charged ahead now: never more than a batch, and a small part of what is left
 * when the limit is near, so that the threads' stocks together cannot be most of it.
 */
uint64_t stock_ahead_bytes(uint32_t counter, bool with_reserve, uint64_t nr_bytes)
{
	uint64_t headroom = counter_headroom(counter, with_reserve);
	uint32_t nr_flights;

	if (headroom <= nr_bytes)
		return 0;
	nr_flights = charge_above ? charge_above->nr_flights() : flight_nr();
	return min(STOCK_BATCH_BYTES, (headroom - nr_bytes) / (4 * nr_flights));
}

/*
 * While a refusal is remembered above, whatever is given back must be seen there; and
 * without the barrier that closing needs, nothing is ever opened.
 */
bool stock_must_stay_closed(uint32_t counter)
{
	return (charge_above && !window_shared) || !barrier_is_available() ||
	       counter_refused(counter, UINT64_MAX);
}
