/* SPDX-License-Identifier: MIT */
/*
 * A word of a stock: its owner thread changes it without a lock, any other thread may close it.
 *
 * The owner changes an open word by one instruction that reads, subtracts and writes (no lock
 * prefix: an interrupt falls before or after it, never inside). If the result is negative it goes
 * the slow way, which first puts the word back, by compare-and-swap.
 *
 * Another thread closes words: of each it records what it holds, and swaps it for WORD_CLOSED if
 * that is still so. Then it runs one membarrier for all, and looks again. After the membarrier no
 * store of the owner's from before the swap is on its way any more. So a word that is now open was
 * overwritten by such a store, and all is done once more; a word that is still negative stays
 * closed, since the owner's later instructions read it.
 *
 * A word that is negative and not closed was overdrawn by its owner, who is on its way to put it
 * back: whoever closes waits for that. A gate's is short by one object, and held nothing, so it is
 * closed at once.
 *
 * docs/models/stock.pml is this protocol, checked.
 */
#ifndef UMEMCG_CHARGE_WORD_H
#define UMEMCG_CHARGE_WORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "charge/barrier.h"

/* Negative: closed. The owner writes with plain instructions, others read or swap. */
typedef _Atomic int64_t stock_word;

#define WORD_CLOSED (-((int64_t)1 << 62))

/* A word that never runs out: no program frees 2^62 bytes. */
#define WORD_UNLIMITED ((int64_t)1 << 62)

/** word_restore - the slow way's first step: undo a subtraction that made one's own word negative
 */
void word_restore(stock_word *word, int64_t n);

/*
 * Subtract from a word of one's own. False: that made it negative, and word_restore() is to
 * undo it before anything else is done with the stock.
 */
static always_inline bool word_subtract(stock_word *word, int64_t n)
{
	bool negative;

#if FAST_PATH_IS_PLAIN
	__asm__ volatile("subq %2, %0" : "+m"(*word), "=@ccs"(negative) : "er"(n) : "memory");
#else
	/* acq_rel: partner of the swap in word_close(). */
	negative = atomic_fetch_sub_explicit(word, n, memory_order_acq_rel) < n;
#endif
	return likely(!negative);
}

/* Add to a word of one's own. False: it is closed, and word_restore() is to follow. */
static always_inline bool word_add(stock_word *word, int64_t n)
{
	bool negative;

#if FAST_PATH_IS_PLAIN
	__asm__ volatile("addq %2, %0" : "+m"(*word), "=@ccs"(negative) : "er"(n) : "memory");
#else
	/* acq_rel: partner of the swap in word_close(). */
	negative = atomic_fetch_add_explicit(word, n, memory_order_acq_rel) < -n;
#endif
	return likely(!negative);
}

/* Subtract, undone if it fails. */
static always_inline bool word_try_subtract(stock_word *word, int64_t n)
{
	if (word_subtract(word, n))
		return true;
	word_restore(word, n);
	return false;
}

static inline bool word_is_closed(int64_t value)
{
	return value < WORD_CLOSED / 2;
}

static inline int64_t word_look(const stock_word *word)
{
	return atomic_load_explicit(word, memory_order_seq_cst);
}

/*
 * The owner thread reads and sets its words with relaxed operations: while it is in flight nobody
 * closes them, and when it lands, flight_end() releases them to whoever closes next.
 */
static inline int64_t word_get(const stock_word *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static inline void word_set(stock_word *word, int64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

/**
 * word_close - before the barrier: record what a word holds, and close it
 * @is_gates: it may be short by one object, and holds nothing then
 * @taken:    untouched if the word was closed before
 *
 * False: it is overdrawn, so its owner comes to put it back; to be closed afterwards.
 */
bool word_close(stock_word *word, bool is_gates, uint64_t *taken);

#endif
