/* SPDX-License-Identifier: MIT */
#include "user/touch.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system.h"
#include "charge/owner.h"
#include "group/kind.h"
#include "kmem/heap.h"
#include "user/bounce.h"
#include "user/directory.h"
#include "user/exchange.h"
#include "user/fault.h"
#include "user/source.h"
#include "user/store.h"
#include "user/userfault.h"

static bool has_directory;

int region_init(void)
{
	int r = directory_init();

	has_directory = !r;
	return r;
}

bool touch_is_usable(void)
{
	return has_directory && switch_counts(KIND_ANON) && !switch_maps_at_map() &&
	       sysconf(_SC_PAGESIZE) == REGION_PAGE_BYTES && userfault_is_usable();
}

/* Address space that begins where an entry of the directory does. */
static char *map_aligned(size_t nr_bytes)
{
	size_t extra = DIRECTORY_ENTRY_BYTES - REGION_PAGE_BYTES;
	char *whole = system_mmap(NULL, nr_bytes + extra, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before;

	if (whole == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)whole % DIRECTORY_ENTRY_BYTES;
	if (before)
		system_munmap(whole, before);
	if (extra - before)
		system_munmap(whole + before + nr_bytes, extra - before);
	return whole + before;
}

/*
 * Small pages only: a part of a huge one could not be given back. What is locked (mlockall()) is
 * not to be evicted.
 */
static int make_pages(struct region *region, size_t nr_bytes)
{
	if (system_madvise(region->address, nr_bytes, MADV_DONTFORK) ||
	    system_madvise(region->address, nr_bytes, MADV_DONTNEED) ||
	    userfault_register(region->address, nr_bytes))
		return -EOPNOTSUPP;
	/* Without huge pages in the kernel there is no such advice. */
	system_madvise(region->address, nr_bytes, MADV_NOHUGEPAGE);
	return 0;
}

static uint64_t nr_bytes_of_states(const struct region *region)
{
	return region_nr_chunks(region) * sizeof(struct chunk) +
	       region->nr_pages * sizeof(page_word);
}

/* Zero at first, and resident only for chunks that were touched. */
static int make_states(struct region *region)
{
	void *states = system_mmap(NULL, nr_bytes_of_states(region), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (states == MAP_FAILED)
		return -ENOMEM;
	region->chunks = states;
	system_madvise(states, nr_bytes_of_states(region), MADV_NOHUGEPAGE);
	system_madvise(states, nr_bytes_of_states(region), MADV_DONTFORK);
	return 0;
}

static int record(struct umemcg *group, struct region *region)
{
	struct mapping mapping;
	int r = mapping_charge(group, KIND_ANON, region->address, sizeof(*region));

	if (r)
		return r;
	region->owner = group->owner;
	r = directory_add(region);
	if (r && !mapping_forget(KIND_ANON, region->address, &mapping))
		mapping_uncharge(&mapping);
	return r;
}

int touch_map(struct umemcg *group, size_t nr_bytes, void **ret_address)
{
	struct region region = { .nr_pages = nr_bytes / REGION_PAGE_BYTES };
	int r;

	if (fault_prepare() || bounce_prepare() || !store_is_prepared())
		return -EOPNOTSUPP;
	region.address = map_aligned(nr_bytes);
	if (!region.address)
		return -ENOMEM;
	r = make_pages(&region, nr_bytes);
	if (!r)
		r = make_states(&region);
	if (!r)
		r = record(group, &region);
	if (r) {
		if (region.chunks)
			system_munmap(region.chunks, nr_bytes_of_states(&region));
		system_munmap(region.address, nr_bytes);
		return r;
	}
	source_prepare();
	*ret_address = region.address;
	return 0;
}

/* Looks at chunks that were touched only: the others' words are not to become resident. */
static void free_stored(const struct region *region)
{
	for (uint64_t page = 0; page < region->nr_pages; page++) {
		const struct chunk *chunk = region_chunk(region, page);

		if (!chunk->is_charged)
			page |= CHUNK_NR_PAGES - 1;
		else if (!bit_is_set(chunk->present, page % CHUNK_NR_PAGES))
			store_free(*region_words(region, page));
	}
}

bool touch_unmap(const struct mapping *mapping)
{
	struct flight *flight = thread_flight();
	struct region region;
	uint64_t nr_bytes;

	if (!directory_remove((void *)(uintptr_t)mapping->key, &region))
		return false;
	system_munmap(region.address, region.nr_pages * REGION_PAGE_BYTES);
	free_stored(&region);
	system_munmap(region.chunks, nr_bytes_of_states(&region));
	/* relaxed: nobody uses it any more. */
	nr_bytes = atomic_load_explicit(&region.nr_bytes, memory_order_relaxed);
	if (flight && nr_bytes)
		owner_uncharge_kind(flight, region.owner, KIND_ANON, nr_bytes);
	return true;
}

void region_drop(const struct region *region, uint64_t first, uint64_t nr_pages)
{
	system_drop(region_page_address(region, first), nr_pages * REGION_PAGE_BYTES);
}

bool region_next_of(const struct umemcg *group, struct region **ret_region)
{
	uint64_t key = mapping_next_region_of(group->owner);
	uint64_t page;
	struct region *region = key ? region_get((void *)(uintptr_t)key, &page) : NULL;

	/* The record may be gone since, and another region have the address. */
	if (region && owner_counter(region->owner) != group->id) {
		region_put(region);
		region = NULL;
	}
	*ret_region = region;
	return key != 0;
}

static uint64_t nr_bytes_found(const struct region *region)
{
	uint64_t nr_bytes = 0;

	for (uint64_t page = 0; page < region->nr_pages; page++) {
		const struct chunk *chunk = region_chunk(region, page);

		if (!chunk->is_charged) {
			page |= CHUNK_NR_PAGES - 1;
			continue;
		}
		if (page % CHUNK_NR_PAGES == 0)
			nr_bytes += region_state_bytes(region, page);
		if (bit_is_set(chunk->present, page % CHUNK_NR_PAGES))
			nr_bytes += REGION_PAGE_BYTES;
	}
	return nr_bytes;
}

void region_walk(void (*visit)(uint32_t owner, uint64_t nr_bytes, void *arg), void *arg)
{
	for (uint32_t row = 1; row < region_nr_rows(); row++) {
		const struct region *region = directory_row(row);

		if (atomic_load_explicit(&region->key, memory_order_relaxed))
			visit(region->owner, nr_bytes_found(region), arg);
	}
}

/* Their records, too; what is left in the store is not the child's either (user/store.h). */
void region_forget_all(void)
{
	struct flight *flight = thread_flight();

	userfault_forget();
	bounce_forget();
	exchange_forget();
	for (uint32_t row = 1; row < region_nr_rows(); row++) {
		const struct region *region = directory_row(row);
		struct mapping mapping;
		uint64_t nr_bytes = atomic_load_explicit(&region->nr_bytes, memory_order_relaxed);

		if (!atomic_load_explicit(&region->key, memory_order_relaxed))
			continue;
		if (flight && nr_bytes)
			owner_uncharge_kind(flight, region->owner, KIND_ANON, nr_bytes);
		if (!mapping_forget(KIND_ANON, region->address, &mapping))
			mapping_uncharge(&mapping);
	}
	directory_forget();
}
