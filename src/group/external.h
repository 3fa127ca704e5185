/* SPDX-License-Identifier: MIT */
/*
 * Explicit charges, from the thread's stock for the group. Two words change on each way, and
 * nothing else: how much is charged ahead, and how much of it the thread charged explicitly.
 */
#ifndef UMEMCG_GROUP_EXTERNAL_H
#define UMEMCG_GROUP_EXTERNAL_H

#include "charge/stock.h"

/* Where a word of the stock did not serve. Its subtraction or addition is still to be undone. */
int external_try_charge_slowly(struct stock *stock, uint64_t nr_bytes);
int external_count_slowly(struct stock *stock, uint64_t nr_bytes);
void external_uncharge_slowly(struct stock *stock, uint64_t nr_bytes);
void external_keep_slowly(struct stock *stock, uint64_t nr_bytes);

/** external_try_charge - umemcg_try_charge() with the thread's stock for the group */
static always_inline int external_try_charge(struct stock *stock, uint64_t nr_bytes)
{
	if (unlikely(!stock_word_subtract(&stock->spare, (int64_t)nr_bytes)))
		return external_try_charge_slowly(stock, nr_bytes);
	if (unlikely(!stock_word_add(&stock->external, (int64_t)nr_bytes)))
		return external_count_slowly(stock, nr_bytes);
	return 0;
}

/** external_uncharge - umemcg_uncharge() likewise */
static always_inline void external_uncharge(struct stock *stock, uint64_t nr_bytes)
{
	if (unlikely(!stock_word_subtract(&stock->external, (int64_t)nr_bytes)))
		external_uncharge_slowly(stock, nr_bytes);
	else if (unlikely(!stock_keep_bytes(stock, nr_bytes)))
		external_keep_slowly(stock, nr_bytes);
}

#endif
