/* SPDX-License-Identifier: MIT */
/* What calls of the program's do where a charge was refused, and where it was not. */
#ifndef UMEMCG_KMEM_AGAIN_H
#define UMEMCG_KMEM_AGAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "charge/charge.h"
#include "kmem/heap.h"

/** thread_try_again - charge_try_again() of the calling thread, which has a heap if it was refused
 */
static inline bool thread_try_again(struct charge_attempt *attempt)
{
	return charge_try_again(thread.heap ? &thread.heap->flight : NULL, attempt);
}

/** thread_forget_refusal - the call does without what was refused */
static inline void thread_forget_refusal(void)
{
	if (thread.heap)
		thread.heap->flight.refusal.at = 0;
}

/** view_throttle - an object was allocated from this view */
static always_inline void view_throttle(const struct view *view)
{
	charge_throttle(&view->heap->flight, view->owner);
}

/** thread_throttle - something was charged to a group */
static inline void thread_throttle(const struct umemcg *group)
{
	if (unlikely(charge_may_throttle()) && thread.heap)
		charge_throttle(&thread.heap->flight, group->owner);
}

#endif
