/* SPDX-License-Identifier: MIT */
/*
 * memory.high: above it threads reclaim, and then wait, longer the further above they are and the
 * more they charge. Nothing is refused.
 */
#ifndef UMEMCG_RECLAIM_HIGH_H
#define UMEMCG_RECLAIM_HIGH_H

#include <stdbool.h>
#include <stdint.h>

#include "group/group.h"

/**
 * high_throttle - reclaim what @group, and each group above it, has above high, then wait
 * @flight:        the calling thread's
 * @in_allocation: the thread has not asked for it: only once it has charged a good deal there
 *
 * What would be too short a wait stays due. No lock is held; no cancellation point; takes no memory
 * of the heap's, keeps errno.
 *
 * Return: microseconds waited, in slices of which each looks whether it is over; a signal's handler
 * ends it as well.
 */
uint64_t high_throttle(struct flight *flight, struct umemcg *group, bool in_allocation);

/** high_throttle_allocations - from now on, for good: threads wait where they allocate, in shared
 * groups too. Else they wait where the program says that it can */
void high_throttle_allocations(void);

/** high_cancel - end all waits of threads in @group and below */
void high_cancel(struct umemcg *group);

#endif
