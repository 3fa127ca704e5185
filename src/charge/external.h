/* SPDX-License-Identifier: MIT */
/*
 * Explicit charges, from the thread's stock for the group. Two words change on each way, and
 * nothing else: how much is charged ahead, and how much of it the thread charged explicitly.
 *
 * So what is given back can be checked. What the thread's own sum does not cover is taken from the
 * counter's sum, and, if that is not enough, all threads' words are closed and added there first.
 */
#ifndef UMEMCG_CHARGE_EXTERNAL_H
#define UMEMCG_CHARGE_EXTERNAL_H

#include <stdint.h>

#include "base/compiler.h"
#include "charge/stock.h"

/* Where a word of the stock did not serve. Its subtraction or addition is still to be undone. */
int external_try_charge_slowly(struct stock *stock, uint64_t nr_bytes);
int external_count_slowly(struct stock *stock, uint64_t nr_bytes);
void external_uncharge_slowly(struct stock *stock, uint64_t nr_bytes);
void external_keep_slowly(struct stock *stock, uint64_t nr_bytes);

/** external_try_charge - umemcg_try_charge() with the thread's stock for the group */
static always_inline int external_try_charge(struct stock *stock, uint64_t nr_bytes)
{
	if (unlikely(!word_subtract(stock_spare(stock), (int64_t)nr_bytes)))
		return external_try_charge_slowly(stock, nr_bytes);
	if (unlikely(!word_add(stock_external(stock), (int64_t)nr_bytes)))
		return external_count_slowly(stock, nr_bytes);
	return 0;
}

/** external_uncharge - umemcg_uncharge() likewise */
static always_inline void external_uncharge(struct stock *stock, uint64_t nr_bytes)
{
	if (unlikely(!word_subtract(stock_external(stock), (int64_t)nr_bytes)))
		external_uncharge_slowly(stock, nr_bytes);
	else if (unlikely(!stock_keep_bytes(stock, nr_bytes)))
		external_keep_slowly(stock, nr_bytes);
}

/** external_bytes - explicit charges to the group of a counter itself */
uint64_t external_bytes(uint32_t counter);

/** external_in_stocks - of the explicit charges at @counter and below, those that threads know of
 */
uint64_t external_in_stocks(uint32_t counter);

#endif
