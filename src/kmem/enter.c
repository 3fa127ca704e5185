/* SPDX-License-Identifier: MIT */
/*
 * Entering a group is two stores: the closed view sends the thread's next allocation to the slow
 * path, which finds the group's view. A thread that never entered any is told it was in NULL, which
 * umemcg_enter() takes for the root.
 */
#include "base/init.h"
#include "kmem/heap.h"
#include "umemcg.h"

struct umemcg *umemcg_enter(struct umemcg *group)
{
	struct umemcg *old = thread_group();

	/* Into the register of the result at once; it saves the compiler a move. */
	__asm__("" : "+r"(old));
	/* relaxed: who looks from outside may be late. */
	atomic_store_explicit(&thread.group, group, memory_order_relaxed);
	thread.view = thread.closed;
	return old;
}

struct umemcg *umemcg_current(void)
{
	if (thread_group())
		return thread_group();
	library_init();
	return group_root();
}
