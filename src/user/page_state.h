/* SPDX-License-Identifier: MIT */
/*
 * What is known of the pages of a region, by chunks of as many as one page table of the kernel's
 * has. A page is missing, present, or stored.
 *
 * Whoever changes a page, or what is known of it, holds its chunk's lock, from the first look to
 * the last system call. So these hold whenever a lock is free: the kernel has a writable page
 * exactly where the present bit is set, but for what the program itself took away; such a page is
 * charged to the region's owner; and a page that is not present is zero, or what its slot gives.
 *
 * The lock is a futex: it is taken in the handler of a fault, where nothing else may be.
 */
#ifndef UMEMCG_USER_PAGE_STATE_H
#define UMEMCG_USER_PAGE_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "user/store.h"

#define CHUNK_NR_PAGES 512u
#define CHUNK_NR_WORDS (CHUNK_NR_PAGES / 64)

/* Of a page that is present: how often it is pinned. Of one that is not: its slot, or none. */
typedef uint64_t page_word;

_Static_assert(sizeof(page_word) == sizeof(store_slot), "one word for either");

struct chunk {
	_Atomic uint32_t lock;
	bool is_charged; /* for this and its words, since a page of it was touched */
	uint64_t present[CHUNK_NR_WORDS];
	uint64_t active[CHUNK_NR_WORDS]; /* came back after it was evicted, or would not go */
};

static inline bool bit_is_set(const uint64_t *bits, unsigned int i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static inline void bit_set(uint64_t *bits, unsigned int i)
{
	bits[i / 64] |= (uint64_t)1 << i % 64;
}

static inline void bit_clear(uint64_t *bits, unsigned int i)
{
	bits[i / 64] &= ~((uint64_t)1 << i % 64);
}

void chunk_lock_slowly(struct chunk *chunk);
void chunk_wake(struct chunk *chunk);

static inline void chunk_lock(struct chunk *chunk)
{
	uint32_t free = 0;

	/* acquire: pairs with the release in chunk_unlock(). */
	if (!atomic_compare_exchange_strong_explicit(&chunk->lock, &free, 1, memory_order_acquire,
						     memory_order_relaxed))
		chunk_lock_slowly(chunk);
}

static inline void chunk_unlock(struct chunk *chunk)
{
	/* release: pairs with the acquires of whoever locks next. 2: somebody waits. */
	if (atomic_exchange_explicit(&chunk->lock, 0, memory_order_release) == 2)
		chunk_wake(chunk);
}

#endif
