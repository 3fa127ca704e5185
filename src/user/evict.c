/* SPDX-License-Identifier: MIT */
#include "user/evict.h"

#include <errno.h>

#include "base/compiler.h"
#include "group/kind.h"
#include "kmem/heap.h"
#include "kmem/mapping.h"
#include "user/bounce.h"
#include "user/store.h"
#include "user/userfault.h"

/* Pages that are protected and dropped by one system call each, at most. */
#define NR_PAGES_A_RUN 32u

/* Pages side by side in one chunk, which is locked. */
struct run {
	struct region *region;
	struct chunk *chunk;
	uint64_t first;
	uint32_t nr_pages;
};

/* The page that the thread is storing, or NULL; volatile: looked at in its handler of a fault. */
static thread_local_fast char *volatile being_read;

static int put(uint32_t owner, char *page, store_slot *ret_slot, uint64_t *ret_nr_bytes_kept)
{
	int r;

	being_read = page;
	r = store_put(owner, page, ret_slot, ret_nr_bytes_kept);
	being_read = NULL;
	return r;
}

/* Protected like the others of its run. */
bool evict_fault(const void *address)
{
	char *page = being_read;
	int r;

	if (!page || (uintptr_t)address - (uintptr_t)page >= REGION_PAGE_BYTES)
		return false;
	r = userfault_copy_protected(page, bounce_zeros());
	return !r || r == -EEXIST;
}

/* One page of a run; what is uncharged of it, if it could be stored. */
static bool store(const struct run *run, uint64_t page, uint64_t *nr_bytes)
{
	store_slot slot;
	uint64_t nr_bytes_kept;
	unsigned int i = page % CHUNK_NR_PAGES;

	if (put(run->region->owner, region_page_address(run->region, page), &slot,
		&nr_bytes_kept)) {
		/* Not asked again at once: the hand goes on to others. */
		bit_set(run->chunk->active, i);
		return false;
	}
	*region_words(run->region, page) = slot;
	bit_clear(run->chunk->present, i);
	*nr_bytes += REGION_PAGE_BYTES - nr_bytes_kept;
	return true;
}

/* Returns how many pages went; *nr_bytes of what they were charged are nobody's now. */
static uint64_t store_run(const struct run *run, uint64_t *nr_bytes)
{
	uint64_t nr_stored = 0, end = run->first + run->nr_pages;

	for (uint64_t page = run->first; page < end;) {
		uint64_t first = page;

		while (page < end && store(run, page, nr_bytes))
			page++;
		nr_stored += page - first;
		if (page > first)
			region_drop(run->region, first, page - first);
		if (page < end)
			userfault_unprotect(region_page_address(run->region, page++),
					    REGION_PAGE_BYTES);
	}
	return nr_stored;
}

static uint64_t evict_run(const struct run *run)
{
	char *address = region_page_address(run->region, run->first);
	struct flight *flight = thread_flight();
	uint64_t nr_bytes = 0, nr_stored;

	if (!flight || userfault_protect(address, run->nr_pages * REGION_PAGE_BYTES))
		return 0;
	nr_stored = store_run(run, &nr_bytes);
	/* relaxed: under the lock; others only look. */
	atomic_fetch_sub_explicit(&run->region->nr_present, nr_stored, memory_order_relaxed);
	atomic_fetch_sub_explicit(&run->region->nr_bytes, nr_stored * REGION_PAGE_BYTES,
				  memory_order_relaxed);
	if (nr_bytes)
		owner_uncharge_kind(flight, run->region->owner, KIND_ANON, nr_bytes);
	return nr_bytes;
}

/*
 * Up to @nr_pages of the chunk, from @i on; none: at the end. Active ones have their second chance.
 */
static uint32_t find_run(struct run *run, unsigned int i, unsigned int end, uint64_t nr_pages)
{
	uint64_t base = run->first - run->first % CHUNK_NR_PAGES;

	run->nr_pages = 0;
	for (; i < end && run->nr_pages < nr_pages; i++) {
		bool goes =
			bit_is_set(run->chunk->present, i) && !*region_words(run->region, base + i);

		if (goes && bit_is_set(run->chunk->active, i)) {
			/* Not passed yet: the next run begins with it. */
			if (run->nr_pages)
				break;
			bit_clear(run->chunk->active, i);
			goes = false;
		}
		if (goes && !run->nr_pages++)
			run->first = base + i;
		if (!goes && run->nr_pages)
			break;
	}
	return i;
}

/* From the hand to the end of its chunk, or until enough was given back. */
static uint64_t evict_chunk(struct region *region, uint64_t page, uint64_t nr_bytes)
{
	struct run run = { .region = region, .chunk = region_chunk(region, page), .first = page };
	uint64_t base = page - page % CHUNK_NR_PAGES, freed = 0;
	unsigned int i = page % CHUNK_NR_PAGES;
	unsigned int end = min((uint64_t)CHUNK_NR_PAGES, region->nr_pages - base);

	chunk_lock(run.chunk);
	if (!run.chunk->is_charged)
		i = end;
	while (i < end && freed < nr_bytes) {
		uint64_t wanted = (nr_bytes - freed - 1) / REGION_PAGE_BYTES + 1;

		i = find_run(&run, i, end, min(wanted, NR_PAGES_A_RUN));
		if (run.nr_pages)
			freed += evict_run(&run);
	}
	chunk_unlock(run.chunk);
	/* relaxed: where to go on. */
	atomic_store_explicit(&region->hand, base + i < region->nr_pages ? base + i : 0,
			      memory_order_relaxed);
	return freed;
}

/* Twice around: what was active the first time is not the second. */
uint64_t evict_region(struct region *region, uint64_t nr_bytes)
{
	uint64_t nr_chunks = region_nr_chunks(region), freed = 0;

	mapping_begin();
	for (uint64_t i = 0; i < 2 * nr_chunks + 1 && freed < nr_bytes; i++) {
		uint64_t hand = atomic_load_explicit(&region->hand, memory_order_relaxed);

		freed += evict_chunk(region, hand, nr_bytes - freed);
	}
	mapping_end();
	return freed;
}
