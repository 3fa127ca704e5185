/* SPDX-License-Identifier: MIT */
#include "shared/claim.h"

static _Atomic uint32_t *state_of(const struct segment *segment, enum segment_region region,
				  uint32_t row)
{
	switch (region) {
	case REGION_THREADS:
		return &segment_thread(segment, row)->state;
	case REGION_IMAGES:
		return &segment_image(segment, row)->state;
	case REGION_CHUNK_HEADS:
		return &segment_chunk(segment, row)->state;
	default:
		return NULL;
	}
}

static bool try_claim(_Atomic uint32_t *state, uint32_t process)
{
	uint32_t free_state = ROW_FREE;

	/* Relaxed: a hint. Acquire pairs with claim_end(). */
	return atomic_load_explicit(state, memory_order_relaxed) == ROW_FREE &&
	       atomic_compare_exchange_strong_explicit(state, &free_state,
						       row_state_making(process),
						       memory_order_acquire, memory_order_relaxed);
}

uint32_t claim_row(struct segment *segment, enum segment_region region, uint32_t process)
{
	/* Fails for the number after the last one, and where there is no memory. */
	for (uint32_t row = 1; !segment_commit_row(segment, region, row); row++) {
		if (try_claim(state_of(segment, region, row), process))
			return row;
	}
	return 0;
}
