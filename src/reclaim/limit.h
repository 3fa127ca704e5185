/* SPDX-License-Identifier: MIT */
/*
 * What follows when a charge does not fit: memory is reclaimed for as long as that gives any, and
 * then it is told that the charge was refused.
 */
#ifndef UMEMCG_RECLAIM_LIMIT_H
#define UMEMCG_RECLAIM_LIMIT_H

#include <stdint.h>

#include "umemcg.h"

struct flight;

/** limit_init - be asked by charge_try_again() */
void limit_init(void);

/** limit_set_max - as group_set_max(), and reclaim what is above */
int limit_set_max(struct flight *flight, struct umemcg *group, uint64_t max);

/** limit_reclaim - umemcg_reclaim(); @flight may be NULL */
int limit_reclaim(struct flight *flight, struct umemcg *group, uint64_t nr_bytes);

/** limit_set_timeout - umemcg_set_reclaim_timeout() */
void limit_set_timeout(uint64_t timeout_us);

/** limit_deadline - of what begins now, in nanoseconds of CLOCK_MONOTONIC */
uint64_t limit_deadline(void);

/** limit_request_deadline - as limit_deadline(), of what the program asks for by name: reclaim, or
 * a lower max; no sooner than in half a second, however short it wants allocations to wait */
uint64_t limit_request_deadline(void);

#endif
