/* SPDX-License-Identifier: MIT */
/*
 * Rows that a process claims for itself: threads, images, chunks.
 *
 * From free to live a row names its claimer in the word of its state, so that it is not lost if
 * that one dies. What else a row holds is its owner's business.
 */
#ifndef UMEMCG_SHARED_CLAIM_H
#define UMEMCG_SHARED_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/segment.h"

/** claim_row - a free row of a region, with memory, now being made by a process; 0: no room */
uint32_t claim_row(struct segment *segment, enum segment_region region, uint32_t process);

/** claim_set_live - it is made */
static inline void claim_set_live(_Atomic uint32_t *state)
{
	/* Release pairs with the acquires of those who look for live rows. */
	atomic_store_explicit(state, ROW_LIVE, memory_order_release);
}

/** claim_end - it is free again, and nobody's */
static inline void claim_end(_Atomic uint32_t *state)
{
	/* Release pairs with the acquire in claim_row(). */
	atomic_store_explicit(state, ROW_FREE, memory_order_release);
}

/** claim_is_of - is a row, live or being made, of a process? @owner: where a live one says whose */
static inline bool claim_is_of(const _Atomic uint32_t *state, const _Atomic uint32_t *owner,
			       uint32_t process)
{
	/* Acquire pairs with claim_set_live(), for the owner. */
	uint32_t now = atomic_load_explicit(state, memory_order_acquire);

	return now == row_state_making(process) ||
	       (now == ROW_LIVE && atomic_load_explicit(owner, memory_order_relaxed) == process);
}

#endif
