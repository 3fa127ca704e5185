/* SPDX-License-Identifier: MIT */
/*
 * Parts of a program, from a mark of their id to the next mark. Of all but the open one, no more is
 * kept than the sums that are not zero.
 */
#ifndef EXACT_PLUGIN_PARTS_H
#define EXACT_PLUGIN_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <umemcg-marks.h>

#include "meters/exact/counts.h"
#include "call_table.h"
#include "counters.h"

/* Ids are 16 bits wide; 0 is no part, and the highest is that of iterations. */
#define PARTS_ID_MAX (UMEMCG_MARK_ITERATION_ID - 1)

struct part {
	uint64_t nr_entered;
	uint64_t nr_interrupts;
	struct counter_sum *sums; /* while it is not open */
	uint32_t nr_sums;
	struct count_iteration *iterations;
	size_t nr_iterations;
	struct call_table calls;
};

/** parts_mark - the running task, in user space, executes the mark of a part or of an iteration */
void parts_mark(unsigned int id);

/** parts_open - is anything to be booked now? */
bool parts_open(void);

/** parts_interrupt - an interrupt falls into what runs */
void parts_interrupt(void);

/** parts_at - by id; NULL if its mark was not met */
const struct part *parts_at(unsigned int id);

#endif
