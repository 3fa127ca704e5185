/* SPDX-License-Identifier: MIT */
#include "user/pin.h"

#include <errno.h>
#include <stdbool.h>

#include "base/compiler.h"
#include "kmem/mapping.h"
#include "user/fill.h"
#include "user/region.h"

/* The pages that a range is on; to be put back. NULL if it is not of one region that has pins. */
static struct region *get_range(const void *address, uint64_t nr_bytes, uint64_t *ret_first,
				uint64_t *ret_end)
{
	uint64_t offset = (uintptr_t)address % REGION_PAGE_BYTES;
	struct region *region = region_get(address, ret_first);

	if (!region)
		return NULL;
	if (nr_bytes <= region->nr_pages * REGION_PAGE_BYTES) {
		*ret_end = *ret_first +
			   (offset + nr_bytes + REGION_PAGE_BYTES - 1) / REGION_PAGE_BYTES;
		if (*ret_end <= region->nr_pages)
			return region;
	}
	region_put(region);
	return NULL;
}

/* Of a region that was charged when it was mapped: everything is present, and stays so. */
static int whole_region(const void *address, uint64_t nr_bytes)
{
	return mapping_has_region(address, nr_bytes) ? 0 : -EINVAL;
}

/* Pin the pages from @page on that are present, up to the first one that is not, or the chunk's
 * end. */
static uint64_t pin_present(struct region *region, uint64_t page, uint64_t end)
{
	struct chunk *chunk = region_chunk(region, page);

	end = min(end, (page | (CHUNK_NR_PAGES - 1)) + 1);
	chunk_lock(chunk);
	for (; page < end && bit_is_set(chunk->present, page % CHUNK_NR_PAGES); page++)
		if (!(*region_words(region, page))++)
			/* relaxed: under the lock; others only look. */
			atomic_fetch_add_explicit(&region->nr_pinned, 1, memory_order_relaxed);
	chunk_unlock(chunk);
	return page;
}

static bool is_pinned(struct region *region, uint64_t page)
{
	struct chunk *chunk = region_chunk(region, page);
	bool is;

	chunk_lock(chunk);
	is = bit_is_set(chunk->present, page % CHUNK_NR_PAGES) && *region_words(region, page);
	chunk_unlock(chunk);
	return is;
}

static void unpin(struct region *region, uint64_t page, uint64_t end)
{
	for (; page < end; page++) {
		struct chunk *chunk = region_chunk(region, page);

		chunk_lock(chunk);
		if (!--*region_words(region, page))
			atomic_fetch_sub_explicit(&region->nr_pinned, 1, memory_order_relaxed);
		chunk_unlock(chunk);
	}
}

static int pin_pages(struct region *region, uint64_t first, uint64_t end)
{
	uint64_t page = first;

	while ((page = pin_present(region, page, end)) < end) {
		uint32_t nr_pages = min(end - page, (uint64_t)CHUNK_NR_PAGES);
		/* If it is present, as that of the next chunk may be, this finds it so. */
		int r = fill_page(region, page, &nr_pages);

		if (r) {
			unpin(region, first, page);
			return r == -EIO ? -EIO : -ENOMEM;
		}
	}
	return 0;
}

int pin_range(const void *address, uint64_t nr_bytes)
{
	uint64_t first, end;
	struct region *region = get_range(address, nr_bytes, &first, &end);
	int r;

	if (!region)
		return whole_region(address, nr_bytes);
	r = pin_pages(region, first, end);
	region_put(region);
	return r;
}

int pin_release(const void *address, uint64_t nr_bytes)
{
	uint64_t first, end;
	struct region *region = get_range(address, nr_bytes, &first, &end);
	int r = 0;

	if (!region)
		return whole_region(address, nr_bytes);
	for (uint64_t page = first; page < end && !r; page++)
		if (!is_pinned(region, page))
			r = -EINVAL;
	if (!r)
		unpin(region, first, end);
	region_put(region);
	return r;
}
