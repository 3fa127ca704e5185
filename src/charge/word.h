/* SPDX-License-Identifier: MIT */
/*
 * A word of a stock: its owner thread changes it without a lock, any other thread may close it.
 *
 * The owner changes an open word by one instruction that reads, subtracts and writes (no lock
 * prefix: an interrupt falls before or after it, never inside). If the result is negative it goes
 * the slow way, which first puts the word back, under the stock's lock. Another thread closes words
 * under that lock: it exchanges each for WORD_CLOSED, runs one membarrier, and looks again. After
 * the membarrier no store of the owner's from before the exchange is on its way any more. So a word
 * that is now open was overwritten by such a store, and the exchange is tried once more; a word
 * that is still negative stays closed, since the owner's later instructions read it. If the
 * exchange returned a negative number, the owner has just failed and is on its way to the lock: the
 * word gets its number back, and is closed when the owner has been there.
 */
#ifndef UMEMCG_CHARGE_WORD_H
#define UMEMCG_CHARGE_WORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "charge/barrier.h"

struct stock;

/* Negative: closed. The owner writes with plain instructions, others read or exchange. */
typedef _Atomic int64_t stock_word;

#define WORD_CLOSED (-((int64_t)1 << 62))

/* A word that never runs out: no program frees 2^62 bytes. */
#define WORD_UNLIMITED ((int64_t)1 << 62)

/** word_restore - the slow way's first step: undo a subtraction that made one's own word negative
 */
void word_restore(struct stock *stock, stock_word *word, int64_t n);

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
	/* acq_rel: partner of the exchange in word_take(). */
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
	/* acq_rel: partner of the exchange in word_take(). */
	negative = atomic_fetch_add_explicit(word, n, memory_order_acq_rel) < -n;
#endif
	return likely(!negative);
}

/* Subtract, undone if it fails. */
static always_inline bool word_try_subtract(struct stock *stock, stock_word *word, int64_t n)
{
	if (word_subtract(word, n))
		return true;
	word_restore(stock, word, n);
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

/* The stock's lock: its owner holds it for a few instructions, whoever closes for a barrier. */
void word_lock(struct stock *stock);
void word_unlock(struct stock *stock);

/** word_take - under the lock, before the barrier: close a word; returns what it held */
int64_t word_take(stock_word *word);

enum outcome { WAS_CLOSED, TAKEN, OWNER_COMES };

/**
 * word_settle - under the lock, after the barrier: is the word closed for good?
 * @taken: what word_take() returned; made right if that had to be repeated
 *
 * Return: OWNER_COMES if the owner has just failed at the word, and takes the lock next: the word
 * is as it was, and to be closed again afterwards.
 */
enum outcome word_settle(stock_word *word, int64_t *taken);

#endif
