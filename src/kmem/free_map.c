/* SPDX-License-Identifier: MIT */
#include "kmem/free_map.h"

#include <string.h>

#include "kmem/heap.h"
#include "kmem/list.h"

static void mark(struct free_map *map, const struct page *page, const void *first)
{
	for (const void *block = first; block; block = list_next(block)) {
		size_t index = page_index(page, block);

		map->bits[index / 64] |= (uint64_t)1 << index % 64;
	}
}

void free_map_init(struct free_map *map, struct page *page)
{
	memset(map, 0, sizeof(*map));
	/* acquire: pairs with page_set_free_list(). */
	mark(map, page, atomic_load_explicit(&page->free, memory_order_acquire));
	mark(map, page, page_peek_remote(page));
}

void free_map_add_gate(struct free_map *map, struct page *page, const struct view *view)
{
	const void *first = view->stock.gates[page->size_class].objects;

	if (first && page_first(page_of_slice(first)) == page)
		mark(map, page, first);
}
