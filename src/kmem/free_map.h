/* SPDX-License-Identifier: MIT */
/*
 * Which blocks of a page are free: those on some list. All others that were ever carved are live.
 *
 * With the heap held, a page's own list only grows in front and the remote one only too, so both
 * can be followed. A gate's list can only while its owner neither allocates nor frees.
 */
#ifndef UMEMCG_KMEM_FREE_MAP_H
#define UMEMCG_KMEM_FREE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "kmem/class.h"
#include "kmem/page.h"

struct view;

#define MAX_BLOCKS (SLICE_BYTES / CLASS_GRAIN)

/* A bit for each block of a page that is on some list. */
struct free_map {
	uint64_t bits[MAX_BLOCKS / 64];
};

/** free_map_init - with the blocks on the page's own lists */
void free_map_init(struct free_map *map, struct page *page);

/** free_map_add_gate - add blocks of the page that a view has at its gate */
void free_map_add_gate(struct free_map *map, struct page *page, const struct view *view);

static inline bool free_map_has(const struct free_map *map, uint32_t index)
{
	return map->bits[index / 64] >> index % 64 & 1;
}

static inline void *block_at(const struct page *page, uint32_t index)
{
	return page_start(page) + (size_t)index * page->block_bytes;
}

#endif
