/* SPDX-License-Identifier: MIT */
#include "user/exchange.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "base/report.h"
#include "base/system.h"
#include "charge/owner.h"
#include "kmem/mapping.h"
#include "user/bounce.h"
#include "user/directory.h"
#include "user/store.h"
#include "user/userfault.h"

/*
 * One at a time: it holds the locks of two chunks. Nobody else takes a second one, or this while
 * holding one, so there is no circle.
 */
static struct chunk turn;

/* The page that comes back: its chunk is locked, and it is there, but for writing. */
struct comer {
	struct region *region;
	struct chunk *chunk;
	uint64_t page;
	store_slot slot;
	const char *bytes; /* as they were stored */
};

static char *comer_address(const struct comer *comer)
{
	return region_page_address(comer->region, comer->page);
}

/* Of a locked chunk. */
static bool may_go(const struct region *region, const struct chunk *chunk, uint64_t page,
		   const struct comer *comer)
{
	return bit_is_set(chunk->present, page % CHUNK_NR_PAGES) && !*region_words(region, page) &&
	       !(region == comer->region && page == comer->page);
}

/* The other page is written over the comer's place. */
static int store_in_place(struct region *region, uint64_t page, const struct comer *comer)
{
	char *address = region_page_address(region, page);
	int r;

	/* Nobody has written over the comer's place yet. */
	if (userfault_protect(address, REGION_PAGE_BYTES))
		return -ENOENT;
	r = store_replace(comer->slot, address);
	if (r) {
		userfault_unprotect(address, REGION_PAGE_BYTES);
		return r;
	}
	*region_words(region, page) = comer->slot;
	bit_clear(region_chunk(region, page)->present, page % CHUNK_NR_PAGES);
	region_drop(region, page, 1);
	return 0;
}

/* From a place of the chunk on; -ENOENT if no page of it may go. */
static int give_from_chunk(struct region *region, uint64_t page, const struct comer *comer)
{
	struct chunk *chunk = region_chunk(region, page);
	uint64_t end = min((page | (CHUNK_NR_PAGES - 1)) + 1, region->nr_pages);
	int r = -ENOENT;

	if (chunk != comer->chunk)
		chunk_lock(chunk);
	if (!chunk->is_charged)
		page = end;
	while (page < end && !may_go(region, chunk, page, comer))
		page++;
	if (page < end)
		r = store_in_place(region, page++, comer);
	if (chunk != comer->chunk)
		chunk_unlock(chunk);
	/* relaxed: where to go on. */
	atomic_store_explicit(&region->hand, page < region->nr_pages ? page : 0,
			      memory_order_relaxed);
	return r;
}

static int give_from_region(struct region *region, const struct comer *comer)
{
	uint64_t nr_chunks = region_nr_chunks(region);
	int r = -ENOENT;

	for (uint64_t i = 0; i <= nr_chunks && r == -ENOENT; i++)
		r = give_from_chunk(
			region, atomic_load_explicit(&region->hand, memory_order_relaxed), comer);
	if (r || region == comer->region)
		return r;
	/* relaxed: of the two regions' sums only their own are under the locks. */
	atomic_fetch_sub_explicit(&region->nr_present, 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&region->nr_bytes, REGION_PAGE_BYTES, memory_order_relaxed);
	atomic_fetch_add_explicit(&comer->region->nr_present, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&comer->region->nr_bytes, REGION_PAGE_BYTES,
				  memory_order_relaxed);
	return 0;
}

/* Any page that is charged through the same owner: the charge goes over to the one that comes. */
static int give_another(const struct comer *comer)
{
	uint32_t nr = region_nr_rows();
	struct region *region;
	int r = give_from_region(comer->region, comer);

	while (r == -ENOENT &&
	       (region = region_next_below(owner_counter(comer->region->owner), &nr))) {
		if (region != comer->region && region->owner == comer->region->owner)
			r = give_from_region(region, comer);
		region_put(region);
	}
	return r;
}

/* It goes back to where it was, though that was written to; else it stays, which is one page more
 * than is charged, but not lost. */
static void take_back(const struct comer *comer)
{
	if (!store_replace(comer->slot, comer->bytes)) {
		region_drop(comer->region, comer->page, 1);
		return;
	}
	report("a page cannot be written to the swap file, and stays in memory uncharged");
	store_free(comer->slot);
	*region_words(comer->region, comer->page) = 1;
	bit_set(comer->chunk->present, comer->page % CHUNK_NR_PAGES);
	userfault_unprotect(comer_address(comer), REGION_PAGE_BYTES);
}

static int exchange(struct comer *comer, char *bytes)
{
	int r = store_get(comer->slot, bytes);

	if (!r)
		r = userfault_copy_protected(comer_address(comer), bytes);
	if (r)
		return r;
	comer->bytes = bytes;
	r = give_another(comer);
	if (r == -ENOENT || r == -EBADF)
		/* Its place holds it still. */
		region_drop(comer->region, comer->page, 1);
	else if (r)
		take_back(comer);
	if (r)
		return r;
	*region_words(comer->region, comer->page) = 0;
	bit_set(comer->chunk->present, comer->page % CHUNK_NR_PAGES);
	bit_set(comer->chunk->active, comer->page % CHUNK_NR_PAGES);
	return userfault_unprotect(comer_address(comer), REGION_PAGE_BYTES);
}

static int exchange_locked(struct comer *comer)
{
	char *bytes;
	int r;

	if (bit_is_set(comer->chunk->present, comer->page % CHUNK_NR_PAGES))
		return 0;
	comer->slot = *region_words(comer->region, comer->page);
	if (comer->slot == STORE_NONE || store_in_memory(comer->slot))
		return -ENOENT;
	bytes = bounce_get();
	r = exchange(comer, bytes);
	bounce_put(bytes);
	return r;
}

int exchange_page(struct region *region, uint64_t page)
{
	struct comer comer = {
		.region = region,
		.chunk = region_chunk(region, page),
		.page = page,
	};
	int r;

	mapping_begin();
	chunk_lock(&turn);
	chunk_lock(comer.chunk);
	r = exchange_locked(&comer);
	chunk_unlock(comer.chunk);
	chunk_unlock(&turn);
	mapping_end();
	return r;
}

void exchange_forget(void)
{
	turn = (struct chunk){ 0 };
}
