/* SPDX-License-Identifier: MIT */
/*
 * The window: a stock's words, at a constant distance from the stock.
 *
 * What a thread alone uses of its stocks lies in a chunk of rows. As far behind each row as a chunk
 * is large lie the stock's words: in the chunk that follows, or in what was mapped in its place. In
 * a shared tree that is a chunk of the segment's, where other processes close them.
 */
#ifndef UMEMCG_CHARGE_WINDOW_H
#define UMEMCG_CHARGE_WINDOW_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "charge/word.h"

#define STOCK_NR_GATES 56

#define WINDOW_ROW_BYTES ((size_t)1024)
#define WINDOW_NR_ROWS   64u
#define WINDOW_DISTANCE  (WINDOW_ROW_BYTES * WINDOW_NR_ROWS)

/* Words by number. All but the first are closed, and opened, together. */
enum {
	WORD_EXTERNAL, /* explicit charges that this thread may undo without asking */
	WORD_ROOM,     /* bytes of freed objects that may be kept before asking */
	WORD_SPARE,    /* charged bytes for explicit charges and refills */
	WORD_GATES,    /* objects at the head of each gate's list that are charged */
	STOCK_NR_WORDS = WORD_GATES + STOCK_NR_GATES
};

/*
 * The owner opens what is shut, in flight; others close what is open, in exclusive mode, when the
 * owner is not in flight; and the owner's next flight settles it (charge/settle.c).
 */
enum stock_state {
	STOCK_SHUT,    /* every word is closed, and the owner knows */
	STOCK_OPEN,    /* some word may be open */
	STOCK_CLOSING, /* somebody began to close them */
	STOCK_TAKEN,   /* every word is closed; what they held was given back, as the stamp says */
	STOCK_GIVEN,   /* likewise, and it was, whatever the stamp says */
};

/*
 * Whose closing it was. Of one in this process all is booked when it is over. Others say the round
 * of their closing: what they took was given back if that is the last round that the process's
 * ledger knows of, and not if whoever closed died before (charge/above.h).
 */
#define STAMP_BOOKED 2u

/*
 * The words lie in the row's second half, as the lists that go with them lie in the first half of
 * the stock's row: so they never meet in the same set of a cache.
 */
struct stock_words {
	uint64_t taken[STOCK_NR_WORDS]; /* what each word held when it was closed */
	uint64_t in_hand;        /* what closing is to take besides, when the owner has landed */
	_Atomic uint32_t state;  /* of enum stock_state */
	uint32_t stamp;          /* of the closing that took it */
	_Atomic uint32_t moving; /* the owner has bytes in hand, between two words */
	uint32_t chunk;          /* of a window's first row: its number in the segment */
	uint32_t stuck;          /* others have given up waiting for the owner to let go of it */
	stock_word words[STOCK_NR_WORDS] aligned_to(WINDOW_ROW_BYTES / 2);
};

_Static_assert(sizeof(struct stock_words) == WINDOW_ROW_BYTES, "a row for a row");

/* Of a process that charges a shared tree: 0 or a negative errno each. */
struct window_ops {
	int (*map)(void *window);       /* put shared memory of zeros in its place */
	int (*commit)(const void *row); /* so that touching a row of it cannot be SIGBUS */
};

/* NULL elsewhere. Written before the first window is made. */
extern hidden const struct window_ops *window_shared;

/**
 * window_map - have the memory for the words of a chunk of stocks
 * @chunk: two chunks of zeros, of which the second becomes the window; never given back
 *
 * Return: 0 or a negative errno.
 */
int window_map(void *chunk);

/** window_base - of the window that a row lies in, or that a stock's words lie in */
static inline void *window_base(const void *stock)
{
	return (void *)(((uintptr_t)stock & ~(WINDOW_DISTANCE - 1)) + WINDOW_DISTANCE);
}

/** window_commit - before the words of a row, those of the stock at @stock, are touched first */
int window_commit(const void *stock);

#endif
