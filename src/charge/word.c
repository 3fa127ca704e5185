/* SPDX-License-Identifier: MIT */
#include "charge/word.h"

#include "charge/flight.h"
#include "charge/stock.h"

void word_lock(struct stock *stock)
{
	/* Acquire and release pair with each other. */
	for (unsigned int round = 0;
	     atomic_exchange_explicit(&stock->lock, 1, memory_order_acquire); round++)
		pause_briefly(round);
}

void word_unlock(struct stock *stock)
{
	atomic_store_explicit(&stock->lock, 0, memory_order_release);
}

cold void word_restore(struct stock *stock, stock_word *word, int64_t n)
{
	int64_t value;

	/* A stock that no drain knows has nothing to restore: it is closed for good. */
	if (!stock->flight)
		return;
	word_lock(stock);
	value = atomic_load_explicit(word, memory_order_relaxed);
	atomic_store_explicit(word, word_is_closed(value) ? WORD_CLOSED : value + n,
			      memory_order_relaxed);
	word_unlock(stock);
}

int64_t word_take(stock_word *word)
{
	if (word_is_closed(word_look(word)))
		return WORD_CLOSED;
	/* seq_cst; the barrier that follows makes it count (charge/word.h). */
	return atomic_exchange_explicit(word, WORD_CLOSED, memory_order_seq_cst);
}

enum outcome word_settle(stock_word *word, int64_t *taken)
{
	while (!word_is_closed(word_look(word))) {
		*taken = word_take(word);
		barrier_all_threads();
	}
	if (word_is_closed(*taken))
		return WAS_CLOSED;
	if (*taken >= 0)
		return TAKEN;
	atomic_store_explicit(word, *taken, memory_order_relaxed);
	return OWNER_COMES;
}
