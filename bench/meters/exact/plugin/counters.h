/* SPDX-License-Identifier: MIT */
/*
 * Cells that the emulator adds to when it executes an instruction, and the sums by context into
 * which they are booked whenever the context changes. A cell only grows; what was not booked yet is
 * its distance to the value at its last booking. Cells are handed out as code is translated, so
 * that what has to be booked lies close together.
 */
#ifndef EXACT_PLUGIN_COUNTERS_H
#define EXACT_PLUGIN_COUNTERS_H

#include <stdint.h>

#include "meters/exact/counts.h"

/* Of a task of which it is not known yet what it is; booked elsewhere as soon as it is. */
#define COUNT_UNDECIDED   COUNT_NR_CONTEXTS
#define COUNTERS_CONTEXTS (COUNT_NR_CONTEXTS + 1)

enum counter_bank {
	BANK_KERNEL, /* instructions of functions of the kernel */
	BANK_USER,   /* instructions of functions of user space */
	BANK_REPETITIONS,
	BANK_NR,
};

/** counters_init - make room for the symbols that are loaded */
void counters_init(void);

/** counters_instructions - the cell of a symbol's instructions */
uint64_t *counters_instructions(uint32_t symbol);

/** counters_repetitions - the cell of rounds of a symbol's rep prefixes */
uint64_t *counters_repetitions(uint32_t symbol);

/** counters_book - into the sums of a context, and of the open part */
void counters_book(unsigned int context);

/** counters_book_with - as counters_book(), and the instruction that a callback stands before */
void counters_book_with(unsigned int context, uint32_t symbol);

/** counters_move - from the sums of one context to those of another; the first is zero then */
void counters_move(unsigned int from, unsigned int to);

/** counters_open - nothing is booked: what was counted before this is forgotten, sums are zero */
void counters_open(void);

/** counters_total - of a context and a bank, with what would be booked now if it ran */
uint64_t counters_total(unsigned int context, enum counter_bank bank);

/* A sum that is not zero. */
struct counter_sum {
	uint32_t cell;
	uint16_t bank;
	uint16_t context;
	uint64_t nr;
};

/** counters_collect - the sums that are not zero, for free() */
struct counter_sum *counters_collect(uint32_t *ret_nr_sums);

/** counters_restore - add to the sums what was collected before */
void counters_restore(const struct counter_sum *sums, uint32_t nr_sums);

/** counters_sum_instructions - booked for a symbol */
uint64_t counters_sum_instructions(uint32_t symbol, enum count_context context);

uint64_t counters_sum_repetitions(uint32_t symbol, enum count_context context);

#endif
