/* SPDX-License-Identifier: MIT */
/*
 * Closing the words of one stock, of this process or another: in exclusive mode, when its owner is
 * not in flight. Nothing is touched but the words' row.
 *
 * All stocks that are to be closed are taken, one barrier is run, and each is looked at; those that
 * are not closed for good then are taken again.
 */
#ifndef UMEMCG_CHARGE_CLOSING_H
#define UMEMCG_CHARGE_CLOSING_H

#include <stdbool.h>
#include <stdint.h>

#include "charge/window.h"

/** closing_is_needed - may any of the words be open? */
static inline bool closing_is_needed(const struct stock_words *words)
{
	/* relaxed: that the owner has landed was seen before. */
	uint32_t state = atomic_load_explicit(&words->state, memory_order_relaxed);

	return state == STOCK_OPEN || state == STOCK_CLOSING;
}

/** closing_bytes - of one that was taken: what its words held */
uint64_t closing_bytes(const struct stock_words *words);

/** closing_is_over - are all words closed for good, and is nothing on its way? After the barrier */
bool closing_is_over(const struct stock_words *words);

/** closing_take - before the barrier: record what the words hold, and close them */
void closing_take(struct stock_words *words, uint32_t stamp);

/**
 * closing_end - after the barrier: are they closed for good?
 * @ret_bytes: what was taken, to be given back by the caller
 *
 * Waits for the owner if it is moving bytes. False: take them again.
 */
bool closing_end(struct stock_words *words, uint64_t *ret_bytes);

#endif
