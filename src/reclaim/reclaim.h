/* SPDX-License-Identifier: MIT */
/*
 * Reclaim: memory that can be had anew is given back, by all groups below one that is full, in
 * proportion to what each of them has of it that is not protected.
 */
#ifndef UMEMCG_RECLAIM_RECLAIM_H
#define UMEMCG_RECLAIM_RECLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "umemcg.h"

struct flight;

/* Set once the program has registered anything, for good. Relaxed: may be seen late. */
extern hidden _Atomic bool reclaim_is_possible;

/**
 * reclaim_may - is there anything to reclaim from, and may this thread call back the program now?
 *
 * Not from within a callback, nor while it charges, as in the handler of a signal.
 */
bool reclaim_may(const struct flight *flight);

/**
 * reclaim - give back memory of a group and those below it
 * @flight:   the calling thread's, for which reclaim_may() holds
 * @top:      spares nothing of its own; may be gone afterwards
 * @nr_bytes: that are wanted; what comes may be more
 *
 * With no lock held. Ends when a round over the tree has given nothing. The caller says where its
 * thread is stalled meanwhile: pressure_begin().
 *
 * Return: by how much usage fell, with stocks given back: measured, not what callbacks say.
 */
uint64_t reclaim(struct flight *flight, struct umemcg *top, uint64_t nr_bytes,
		 uint64_t deadline_ns);

/** reclaim_requested - likewise, asked for by name: until limit_request_deadline(), and the thread
 * is stalled in its own group, if that is among those that shrink, else in @top */
uint64_t reclaim_requested(struct flight *flight, struct umemcg *top, uint64_t nr_bytes);

/** reclaim_until - umemcg_reclaim(): as long as there is progress; 0 or -EAGAIN */
int reclaim_until(struct flight *flight, struct umemcg *group, uint64_t nr_bytes);

/** reclaim_count - what a group and those below it could give back, by what callbacks say */
uint64_t reclaim_count(struct flight *flight, struct umemcg *top);

#endif
