/* SPDX-License-Identifier: MIT */
/*
 * Reclaim: memory that can be had anew is given back, by all groups below one that is full.
 */
#ifndef UMEMCG_RECLAIM_RECLAIM_H
#define UMEMCG_RECLAIM_RECLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "umemcg.h"

struct flight;

/* Set once there is anything to reclaim from, for good. Relaxed: may be seen late. */
extern hidden _Atomic bool reclaim_is_possible;

/** reclaim_may - may this thread call back the program now? Not from within a callback, or while
 * it charges */
bool reclaim_may(const struct flight *flight);

/**
 * reclaim - give back memory of a group and those below it
 * @nr_bytes: that are wanted
 *
 * One round over the tree. With no lock held; the group may be gone afterwards.
 *
 * Return: by how much usage fell, stocks given back: measured, and never more than that.
 */
uint64_t reclaim(struct flight *flight, struct umemcg *top, uint64_t nr_bytes,
		 uint64_t deadline_ns);

#endif
