/* SPDX-License-Identifier: MIT */
/* What the owner of a stock does to its words in flight: opening them, and how far. */
#ifndef UMEMCG_CHARGE_OPEN_H
#define UMEMCG_CHARGE_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "charge/stock.h"

static inline bool stock_use_reserve(const struct stock *stock)
{
	return stock->flight->reserve_depth > 0;
}

/** stock_must_stay_closed - for now, or for good */
bool stock_must_stay_closed(uint32_t counter);

/** stock_open - let the words serve again, if they are closed */
void stock_open(struct stock *stock);

/** stock_ahead_bytes - how much may be charged ahead now, besides @nr_bytes */
uint64_t stock_ahead_bytes(uint32_t counter, bool with_reserve, uint64_t nr_bytes);

/** stock_merge_room - the bytes of freed objects join the spare ones; what is too much goes back */
void stock_merge_room(struct stock *stock, uint32_t counter);

void stock_give_back(struct stock *stock, uint32_t counter, uint64_t nr_bytes);

#endif
