/* SPDX-License-Identifier: MIT */
#include "charge/closing.h"

#include "charge/pause.h"
#include "charge/stock.h"

void closing_take(struct stock_words *words, uint32_t stamp)
{
	/* relaxed: the swaps follow. */
	atomic_store_explicit(&words->state, STOCK_CLOSING, memory_order_relaxed);
	words->stamp = stamp;
	for (unsigned int word = WORD_ROOM; word < STOCK_NR_WORDS; word++)
		word_close(&words->words[word], word >= WORD_GATES, &words->taken[word]);
}

static bool are_closed(const struct stock_words *words)
{
	for (unsigned int word = WORD_ROOM; word < STOCK_NR_WORDS; word++) {
		if (!word_is_closed(word_look(&words->words[word])))
			return false;
	}
	return true;
}

/*
 * Until the owner has landed from a move that it may have begun before the words were closed. One
 * that begins later finds them closed, and leaves everything alone.
 */
static void wait_for_move(const struct stock_words *words)
{
	/* seq_cst, after the barrier; acquire, for what the move wrote. Partner: set_moving(). */
	for (unsigned int round = 0; atomic_load_explicit(&words->moving, memory_order_seq_cst);
	     round++)
		pause_briefly(round);
}

uint64_t closing_bytes(const struct stock_words *words)
{
	uint64_t nr_bytes = STOCK_ROOM_BYTES - words->taken[WORD_ROOM] + words->taken[WORD_SPARE];

	for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++)
		nr_bytes += words->taken[WORD_GATES + gate] * stock_gate_bytes[gate];
	return nr_bytes + words->in_hand;
}

bool closing_is_over(const struct stock_words *words)
{
	/* seq_cst: as in wait_for_move(). */
	return are_closed(words) && !atomic_load_explicit(&words->moving, memory_order_seq_cst);
}

bool closing_end(struct stock_words *words, uint64_t *ret_bytes)
{
	if (!are_closed(words))
		return false;
	wait_for_move(words);
	*ret_bytes = closing_bytes(words);
	/* relaxed: thawing releases it to the owner's next flight. */
	atomic_store_explicit(&words->state, STOCK_TAKEN, memory_order_relaxed);
	return true;
}
