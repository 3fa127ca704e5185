/* SPDX-License-Identifier: MIT */
/*
 * How long threads wait for memory below a shared group: PSI's `some' and `full'.
 *
 * A thread that waits says so in its row, then in a word of its group and of each one above:
 * when it last changed, and how many wait. Whoever changes a word adds the time since to the
 * group's total. `full' is the time in which all threads of all processes below wait. Nothing is
 * locked, and nobody waits: these numbers are for show.
 *
 * Of one that died in between some words have it and some have not. So words are counted anew from
 * the rows when the dead were recovered (stall_recount()), and when they are read.
 */
#ifndef UMEMCG_SHARED_STALL_H
#define UMEMCG_SHARED_STALL_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/segment.h"

/**
 * stall_begin - the thread of a row begins to wait for memory
 *
 * Return: is it to be followed by stall_end()? Not if it waits already, or there is no such row.
 */
bool stall_begin(struct segment *segment, uint32_t thread);
void stall_end(struct segment *segment, uint32_t thread);

/** stall_recount - after a recovery: only the living wait. What changes meanwhile is left to who
 * reads it */
void stall_recount(struct segment *segment);

/** stall_average - totals and averages of a group up to now, or, while another process computes
 * them, to a moment ago */
struct average stall_average(const struct segment *segment, uint32_t group);

#endif
