/* SPDX-License-Identifier: MIT */
/*
 * The lock of a heap: nearly always its own thread's, which takes it on each slow path.
 *
 * Others take it for an instant, to look at the heap from outside.
 */
#ifndef UMEMCG_KMEM_LOCK_H
#define UMEMCG_KMEM_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "charge/pause.h"

struct lock {
	_Atomic bool is_held;
};

static inline bool lock_try(struct lock *lock)
{
	/* acquire: pairs with the release in lock_put(). */
	return !atomic_exchange_explicit(&lock->is_held, true, memory_order_acquire);
}

static inline void lock_get(struct lock *lock)
{
	for (unsigned int round = 0; !lock_try(lock); round++)
		pause_briefly(round);
}

static inline void lock_put(struct lock *lock)
{
	atomic_store_explicit(&lock->is_held, false, memory_order_release);
}

#endif
