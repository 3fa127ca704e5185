/* SPDX-License-Identifier: MIT */
/*
 * Shrinkers that are called by a thread of the library's: who is short of memory asks, and waits
 * for the answer until its time is up.
 *
 * One question at a time. One that was given up, and is not answered yet, has nobody wait for
 * another one: whatever keeps that thread, it cannot be had.
 */
#ifndef UMEMCG_RECLAIM_ASKING_H
#define UMEMCG_RECLAIM_ASKING_H

#include <stdint.h>

struct umemcg;
struct umemcg_shrinker;

/** asking_prepare - there will be one; 0, or -EAGAIN if there is no thread to be had */
int asking_prepare(void);

/** asking_call - as shrinker_call(); 0 when the time is up */
uint64_t asking_call(struct umemcg_shrinker *shrinker, struct umemcg *group, uint64_t nr_bytes,
		     uint64_t deadline_ns);

/* With the holdings locked. */

/** asking_cancel - of one that is unregistered: what was not begun is not begun any more */
void asking_cancel(struct umemcg_shrinker *shrinker);
void asking_forget_others(void);

#endif
