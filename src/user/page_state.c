/* SPDX-License-Identifier: MIT */
#include "user/page_state.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 0: free; 1: held; 2: held, and somebody may be asleep. */
void chunk_lock_slowly(struct chunk *chunk)
{
	/* acquire: pairs with the release in chunk_unlock(). */
	while (atomic_exchange_explicit(&chunk->lock, 2, memory_order_acquire))
		syscall(SYS_futex, &chunk->lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void chunk_wake(struct chunk *chunk)
{
	syscall(SYS_futex, &chunk->lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
