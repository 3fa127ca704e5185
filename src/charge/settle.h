/* SPDX-License-Identifier: MIT */
/*
 * Settling: who closes a stock records in its window what the words held, and the owner's next
 * flight takes note of that in what is the owner's alone.
 */
#ifndef UMEMCG_CHARGE_SETTLE_H
#define UMEMCG_CHARGE_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "charge/stock.h"

/* The part of stock_settle() for a stock that was closed. */
void stock_settle_closed(struct stock *stock);

/** stock_was_left - did whoever closed it die, or give up, before anything was given back? */
bool stock_was_left(const struct stock *stock);

/** stock_settle - in flight: learn of a closing; also for whoever decides in the process, or is
 * alone in it, but not if the stock was left: its words are open again then, and the owner's alone
 */
static inline void stock_settle(struct stock *stock)
{
	/* relaxed: nobody closes meanwhile, and a thaw was seen since. */
	uint32_t state = atomic_load_explicit(&stock_words(stock)->state, memory_order_relaxed);

	if (unlikely(state > STOCK_OPEN))
		stock_settle_closed(stock);
}

/** stock_take_off - flight_begin() for the stock's owner, and settle; returns the counter */
uint32_t stock_take_off(struct stock *stock);

/** stock_try_take_off - likewise flight_try_begin() */
uint32_t stock_try_take_off(struct stock *stock);

#endif
