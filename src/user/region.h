/* SPDX-License-Identifier: MIT */
/*
 * Regions: anonymous memory that is charged to a group by whole pages.
 *
 * Where the system allows it, as pages are touched (user/fault.h); such a region has a row here,
 * which is found by any address in it. Otherwise whole, when it is mapped, and nothing more is
 * known of it than its record (kmem/mapping.h).
 *
 * The record of a region charged at touch bears the charge for its row, which so keeps the owner
 * from being forgotten before the region is gone.
 */
#ifndef UMEMCG_USER_REGION_H
#define UMEMCG_USER_REGION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "group/group.h"
#include "user/page_state.h"

#define REGION_PAGE_BYTES 4096u

/* One that is charged at touch. A row is never given back to the system. */
struct region {
	uint32_t next_free; /* while nobody has the row: base/table.h */
	uint32_t owner;
	char *address; /* on the boundary of a chunk */
	uint64_t nr_pages;
	struct chunk *chunks; /* the words of all pages lie behind them */
	_Atomic uint64_t
		key; /* the address, for who looks at all rows; 0 while nobody has the row */
	/* Threads that fill, evict or pin; who unmaps waits until there is none. */
	_Atomic uint32_t nr_users;
	_Atomic uint64_t hand;       /* page where eviction goes on; relaxed, races are harmless */
	_Atomic uint64_t nr_present; /* pages; relaxed, changed under the chunk's lock */
	_Atomic uint64_t nr_pinned;  /* of them; likewise */
	_Atomic uint64_t nr_bytes;   /* charged for pages and chunks; relaxed, exact at rest */
};

static inline uint64_t region_nr_chunks(const struct region *region)
{
	return (region->nr_pages + CHUNK_NR_PAGES - 1) / CHUNK_NR_PAGES;
}

static inline page_word *region_words(const struct region *region, uint64_t page)
{
	return (page_word *)(region->chunks + region_nr_chunks(region)) + page;
}

static inline struct chunk *region_chunk(const struct region *region, uint64_t page)
{
	return &region->chunks[page / CHUNK_NR_PAGES];
}

static inline char *region_page_address(const struct region *region, uint64_t page)
{
	return region->address + page * REGION_PAGE_BYTES;
}

/** region_state_bytes - what is known of the chunk that @page is in takes so much, and is charged
 */
static inline uint64_t region_state_bytes(const struct region *region, uint64_t page)
{
	uint64_t rest = region->nr_pages - page / CHUNK_NR_PAGES * CHUNK_NR_PAGES;

	return sizeof(struct chunk) +
	       (rest < CHUNK_NR_PAGES ? rest : CHUNK_NR_PAGES) * sizeof(page_word);
}

/** region_init - called once; 0 or -ENOMEM: all regions are charged when they are mapped then */
int region_init(void);

/** region_map_mode - umemcg_map_mode() */
enum umemcg_map_mode region_map_mode(void);

/** region_map - umemcg_map() */
int region_map(struct umemcg *group, size_t nr_bytes, void **ret_address);

/** region_unmap - umemcg_unmap() */
int region_unmap(void *address);

/** region_free_all - unmap every region that a group itself has; nobody maps or unmaps meanwhile */
void region_free_all(struct umemcg *group);

/**
 * region_get - the region charged at touch that @address is in, and @ret_page of it; or NULL
 *
 * Takes no lock. It is not unmapped until region_put().
 */
struct region *region_get(const void *address, uint64_t *ret_page);
void region_put(struct region *region);

/** region_drop - take away pages that are stored; their chunk is locked */
void region_drop(const struct region *region, uint64_t first, uint64_t nr_pages);

/**
 * region_next_of - the region of a live group whose turn it is
 * @ret_region: to be put back; NULL if this one is not charged at touch, or going
 *
 * Return: false if the group has none.
 */
bool region_next_of(const struct umemcg *group, struct region **ret_region);

/** region_next_below - likewise of all groups at or below a counter; no more than @nr rows are
 * looked at, which *nr counts down */
struct region *region_next_below(uint32_t counter, uint32_t *nr);
uint32_t region_nr_rows(void);

/** region_walk - what each region has charged, owner by owner; for audits */
void region_walk(void (*visit)(uint32_t owner, uint64_t nr_bytes, void *arg), void *arg);

/** region_forget_all - in a fork child, which has none of them: its books do not either */
void region_forget_all(void);

#endif
