/* SPDX-License-Identifier: MIT */
/* The steps of closing a stock's words from another thread; the protocol stands in stock.h. */
#ifndef UMEMCG_CHARGE_CLOSING_H
#define UMEMCG_CHARGE_CLOSING_H

#include <stdbool.h>
#include <stdint.h>

#include "charge/stock.h"

enum outcome { WAS_CLOSED, TAKEN, OWNER_COMES };

static inline bool word_is_closed(int64_t value)
{
	return value < STOCK_CLOSED / 2;
}

static inline int64_t word_look(const stock_word *word)
{
	return atomic_load_explicit(word, memory_order_seq_cst);
}

/* The stock's lock: its owner holds it for a few instructions, whoever closes for a barrier. */
void stock_lock(struct stock *stock);
void stock_unlock(struct stock *stock);

/** word_take - under the lock, before the barrier: close a word; returns what it held */
int64_t word_take(stock_word *word);

/**
 * word_settle - under the lock, after the barrier: is the word closed for good?
 * @taken: what word_take() returned; made right if that had to be repeated
 *
 * Return: OWNER_COMES if the owner has just failed at the word, and takes the lock next: the word
 * is as it was, and to be closed again afterwards.
 */
enum outcome word_settle(stock_word *word, int64_t *taken);

/** stock_owner_below - its owner if that is charged at @counter or below, else 0 */
uint32_t stock_owner_below(const struct stock *stock, uint32_t counter);

static inline struct stock *first_stock(const struct flight *flight)
{
	/* Acquire pairs with stock_init(). */
	return atomic_load_explicit(&flight->stocks, memory_order_acquire);
}

#define for_each_stock(stock)                                                                      \
	for (struct flight *flight_ = flight_first(); flight_; flight_ = flight_->next)            \
		for ((stock) = first_stock(flight_); (stock); (stock) = (stock)->next)

#endif
