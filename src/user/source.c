/* SPDX-License-Identifier: MIT */
#include "user/source.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "kmem/mapping.h"
#include "user/evict.h"
#include "user/region.h"

const struct reclaim_source *_Atomic page_source;

/* relaxed: about right is enough. Stored pages are not counted: they are given back already. */
static uint64_t evictable_bytes(const struct region *region)
{
	uint64_t nr_present = atomic_load_explicit(&region->nr_present, memory_order_relaxed);
	uint64_t nr_pinned = atomic_load_explicit(&region->nr_pinned, memory_order_relaxed);

	return (nr_present > nr_pinned ? nr_present - nr_pinned : 0) * REGION_PAGE_BYTES;
}

/*
 * Once around the regions of a group, each at its turn. Where regions come and go meanwhile some
 * may come twice, or not at all; in all there are no more steps than rows.
 */
static uint64_t go_around(struct umemcg *group, uint64_t nr_bytes,
			  uint64_t (*of)(struct region *region, uint64_t nr_bytes))
{
	const struct region *first = NULL;
	struct region *region;
	uint64_t sum = 0;

	/*
	 * Before a region is got: who unmaps waits for us, and must not do so while we wait for a
	 * fork, which waits for the unmapping to end.
	 */
	mapping_begin();
	for (uint32_t nr = region_nr_rows(); nr && sum < nr_bytes; nr--) {
		bool is_around;

		if (!region_next_of(group, &region))
			break;
		if (!region)
			continue;
		is_around = region == first;
		if (!is_around)
			sum += of(region, nr_bytes - sum);
		if (!first)
			first = region;
		region_put(region);
		if (is_around)
			break;
	}
	mapping_end();
	return sum;
}

static uint64_t count_region(struct region *region, uint64_t nr_bytes)
{
	(void)nr_bytes;
	return evictable_bytes(region);
}

static uint64_t count(struct umemcg *group)
{
	return go_around(group, UINT64_MAX, count_region);
}

static uint64_t scan(struct umemcg *group, uint64_t nr_bytes)
{
	return go_around(group, nr_bytes, evict_region);
}

static const struct reclaim_source pages = { .count = count, .scan = scan };

void source_prepare(void)
{
	/* release: pairs with whoever sees that there is one. */
	atomic_store_explicit(&page_source, &pages, memory_order_release);
}
