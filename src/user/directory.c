/* SPDX-License-Identifier: MIT */
#include "user/directory.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "base/system.h"
#include "base/table.h"
#include "charge/counter.h"
#include "charge/owner.h"
#include "charge/pause.h"

/* Addresses of programs have 48 bits at most, unless they ask for more. */
#define ADDRESS_BITS 48
#define LEAF_BITS    13
#define NR_ENTRIES   (1u << LEAF_BITS)
#define NR_LEAVES    ((1ull << ADDRESS_BITS) / DIRECTORY_ENTRY_BYTES / NR_ENTRIES)

#define NR_REGIONS_MAX (1u << 24)

struct leaf {
	_Atomic uint32_t rows[NR_ENTRIES];
};

static struct leaf *_Atomic leaves[NR_LEAVES];
static struct table region_table;

/* Guards the table and the making of leaves; never taken to look up. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int directory_init(void)
{
	return table_init(&region_table, sizeof(struct region), NR_REGIONS_MAX, NULL);
}

struct region *directory_row(uint32_t row)
{
	return table_row(&region_table, row);
}

uint32_t region_nr_rows(void)
{
	/* relaxed: a region that is just being made has nothing yet. */
	return atomic_load_explicit(&region_table.nr_used, memory_order_relaxed);
}

/* The entry for an address; NULL if there is no leaf, or there can be none. */
static _Atomic uint32_t *entry_of(const void *address)
{
	uint64_t number = (uintptr_t)address / DIRECTORY_ENTRY_BYTES;
	struct leaf *leaf;

	if (number / NR_ENTRIES >= NR_LEAVES)
		return NULL;
	/* acquire: pairs with the release in make_leaf(). */
	leaf = atomic_load_explicit(&leaves[number / NR_ENTRIES], memory_order_acquire);
	return leaf ? &leaf->rows[number % NR_ENTRIES] : NULL;
}

static bool make_leaf(const char *address)
{
	uint64_t number = (uintptr_t)address / DIRECTORY_ENTRY_BYTES / NR_ENTRIES;
	struct leaf *leaf;

	if (number >= NR_LEAVES)
		return false;
	if (atomic_load_explicit(&leaves[number], memory_order_relaxed))
		return true;
	leaf = system_mmap(NULL, sizeof(*leaf), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (leaf == MAP_FAILED)
		return false;
	/* release: pairs with the acquire in entry_of(). */
	atomic_store_explicit(&leaves[number], leaf, memory_order_release);
	return true;
}

static uint64_t nr_bytes_of(const struct region *region)
{
	return region->nr_pages * REGION_PAGE_BYTES;
}

static bool make_leaves(const struct region *region)
{
	uint64_t leaf_bytes = DIRECTORY_ENTRY_BYTES * NR_ENTRIES;
	const char *last = region->address + nr_bytes_of(region) - 1;

	for (const char *at = region->address; at < last;
	     at += min(leaf_bytes, (uint64_t)(last - at)))
		if (!make_leaf(at))
			return false;
	return make_leaf(last);
}

static void set_entries(const struct region *region, uint32_t row)
{
	for (uint64_t at = 0; at < nr_bytes_of(region); at += DIRECTORY_ENTRY_BYTES)
		/* seq_cst: pairs with region_get(), which counts itself and then looks again. */
		atomic_store_explicit(entry_of(region->address + at), row, memory_order_seq_cst);
}

int directory_add(const struct region *region)
{
	struct region *its;
	uint32_t row = 0;

	pthread_mutex_lock(&lock);
	if (make_leaves(region))
		row = table_get(&region_table);
	pthread_mutex_unlock(&lock);
	if (!row)
		return -ENOMEM;
	its = directory_row(row);
	its->owner = region->owner;
	its->address = region->address;
	its->nr_pages = region->nr_pages;
	its->chunks = region->chunks;
	/* relaxed: seen by whoever sees the entries. Who looked up the row's last region may still
	 * count itself for an instant. */
	atomic_store_explicit(&its->key, (uintptr_t)its->address, memory_order_relaxed);
	atomic_store_explicit(&its->hand, 0, memory_order_relaxed);
	atomic_store_explicit(&its->nr_present, 0, memory_order_relaxed);
	atomic_store_explicit(&its->nr_pinned, 0, memory_order_relaxed);
	atomic_store_explicit(&its->nr_bytes, 0, memory_order_relaxed);
	set_entries(its, row);
	return 0;
}

/*
 * Counts itself first and looks again second, while directory_remove() takes the entries away first
 * and looks at the count second, all seq_cst: so one of them sees the other.
 */
static struct region *get_row(uint32_t row, const _Atomic uint32_t *entry)
{
	struct region *region = directory_row(row);

	atomic_fetch_add_explicit(&region->nr_users, 1, memory_order_seq_cst);
	if (atomic_load_explicit(entry, memory_order_seq_cst) == row)
		return region;
	region_put(region);
	return NULL;
}

struct region *region_get(const void *address, uint64_t *ret_page)
{
	_Atomic uint32_t *entry = entry_of(address);
	uint32_t row = entry ? atomic_load_explicit(entry, memory_order_acquire) : 0;
	struct region *region = row ? get_row(row, entry) : NULL;
	uint64_t page;

	if (!region)
		return NULL;
	page = (uint64_t)((const char *)address - region->address) / REGION_PAGE_BYTES;
	if (page < region->nr_pages) {
		*ret_page = page;
		return region;
	}
	region_put(region);
	return NULL;
}

void region_put(struct region *region)
{
	/* release: pairs with the load in directory_remove(). */
	atomic_fetch_sub_explicit(&region->nr_users, 1, memory_order_release);
}

struct region *region_next_below(uint32_t counter, uint32_t *nr)
{
	static _Atomic uint32_t last;
	uint32_t nr_rows = region_nr_rows();

	while (*nr) {
		/* relaxed: whose turn it is. */
		uint32_t row = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) % nr_rows;
		struct region *region = NULL;
		uint64_t page, key = 0;

		--*nr;
		/* relaxed: a key that is outdated finds another region, or none. */
		if (row)
			key = atomic_load_explicit(&directory_row(row)->key, memory_order_relaxed);
		if (key)
			region = region_get((void *)(uintptr_t)key, &page);
		if (!region)
			continue;
		if (counter_is_below(owner_counter(region->owner), counter))
			return region;
		region_put(region);
	}
	return NULL;
}

bool directory_remove(const void *address, struct region *ret_region)
{
	_Atomic uint32_t *entry = entry_of(address);
	uint32_t row = entry ? atomic_load_explicit(entry, memory_order_acquire) : 0;
	struct region *region;

	if (!row || directory_row(row)->address != address)
		return false;
	region = directory_row(row);
	set_entries(region, 0);
	for (unsigned int round = 0; atomic_load_explicit(&region->nr_users, memory_order_seq_cst);
	     round++)
		pause_briefly(round);
	*ret_region = *region;
	atomic_store_explicit(&region->key, 0, memory_order_relaxed);
	pthread_mutex_lock(&lock);
	table_put(&region_table, row);
	pthread_mutex_unlock(&lock);
	return true;
}

/* The thread that forked is alone; it waited until nobody was making or ending a region. */
void directory_forget(void)
{
	struct region region;

	for (uint32_t row = 1; row < region_nr_rows(); row++) {
		struct region *its = directory_row(row);

		atomic_store_explicit(&its->nr_users, 0, memory_order_relaxed);
		if (atomic_load_explicit(&its->key, memory_order_relaxed))
			directory_remove(its->address, &region);
	}
}
