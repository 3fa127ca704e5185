/* SPDX-License-Identifier: MIT */
#include "shared/image.h"

#include <errno.h>

#include "shared/claim.h"
#include "shared/climb.h"
#include "shared/slot.h"

/* From an image to older ones, no further than there are rows, whatever they hold. */
#define for_each_older(segment, row, image, first)                                                 \
	for (uint32_t row = (first), nr_rows_ = 0; nr_rows_ < (segment)->nr_rows[REGION_IMAGES] && \
						   ((image) = segment_image(segment, row));        \
	     nr_rows_++, row = atomic_load_explicit(&(image)->previous, memory_order_relaxed))

uint64_t image_bytes(const struct segment *segment, uint32_t first)
{
	struct shared_image *image;
	uint64_t nr_bytes = 0;

	for_each_older(segment, row, image, first)
	{
		uint64_t its = atomic_load_explicit(&image->nr_bytes, memory_order_relaxed);

		if (!atomic_load_explicit(&image->merged, memory_order_acquire))
			nr_bytes = min(nr_bytes + min(its, COUNTER_USAGE_MAX), COUNTER_USAGE_MAX);
	}
	return nr_bytes;
}

bool image_is_held(const struct segment *segment, uint32_t which, uint32_t process)
{
	const struct shared_process *its = segment_process(segment, process);
	struct shared_image *image;

	if (atomic_load_explicit(&its->state, memory_order_acquire) == PROCESS_FREE)
		return false;
	for_each_older(segment, row, image, atomic_load_explicit(&its->image, memory_order_acquire))
	{
		if (row == which)
			return true;
	}
	return false;
}

int image_make(struct segment *segment, uint32_t process)
{
	struct shared_process *its = segment_process(segment, process);
	uint64_t own = climb_own(segment, process);
	struct shared_image *image;
	uint32_t row;

	if (!own)
		return 0;
	row = claim_row(segment, REGION_IMAGES, process);
	if (!row)
		return -ENOMEM;
	image = segment_image(segment, row);
	atomic_store_explicit(&image->nr_bytes, own, memory_order_relaxed);
	atomic_store_explicit(&image->group,
			      atomic_load_explicit(&its->group, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&image->previous,
			      atomic_load_explicit(&its->image, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&image->merged, 0, memory_order_relaxed);
	claim_set_live(&image->state);
	/* One store: from here on it pays nothing itself, and holds as much. Pairs with acquires of
	 * whoever sums. */
	atomic_store_explicit(&its->image, row, memory_order_release);
	return 0;
}

static bool is_held_by_others(const struct segment *segment, uint32_t image, uint32_t process)
{
	for_each_process_row(segment, row)
	{
		if (row != process && image_is_held(segment, image, row))
			return true;
	}
	return false;
}

/* A dead one still holds until it is recovered: then the image stays one for a little longer. */
void image_take_back(struct segment *segment, uint32_t process)
{
	struct shared_process *its = segment_process(segment, process);
	struct shared_image *image;

	for (;;) {
		uint32_t row = atomic_load_explicit(&its->image, memory_order_relaxed);

		image = segment_image(segment, row);
		if (!image || is_held_by_others(segment, row, process))
			return;
		atomic_store_explicit(&its->image,
				      atomic_load_explicit(&image->previous, memory_order_relaxed),
				      memory_order_release);
		/* Nobody names it any more. */
		claim_end(&image->state);
	}
}
