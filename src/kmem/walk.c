/* SPDX-License-Identifier: MIT */
/* Finding live objects, in a quiescent process. */
#include "kmem/free_map.h"
#include "kmem/heap.h"
#include "kmem/run.h"

static void add_all_gates(struct free_map *map, struct page *page)
{
	for (unsigned int i = 0; i < HEAP_NR_BUCKETS; i++) {
		for (struct view *view = page->heap->buckets[i]; view; view = view->next)
			free_map_add_gate(map, page, view);
	}
}

static int walk_page(struct page *page, int (*visit)(void *, size_t, uint32_t, void *), void *arg)
{
	struct free_map map;
	int r = 0;

	free_map_init(&map, page);
	add_all_gates(&map, page);
	for (uint32_t i = 0; i < page->nr_carved && !r; i++) {
		void *block = block_at(page, i);

		if (!free_map_has(&map, i))
			r = visit(block, page->block_bytes, page_owner_of(page, block), arg);
	}
	return r;
}

int heap_walk(int (*visit)(void *object, size_t nr_bytes, uint32_t owner, void *arg), void *arg)
{
	struct page *page = heap_map.pages;
	int r = 0;

	while (page < run_end() && !r) {
		if (page_kind(page) == PAGE_SMALL)
			r = walk_page(page, visit, arg);
		else if (page_kind(page) == PAGE_LARGE)
			r = visit(page_start(page), page->nr_large_bytes,
				  page_owner_of(page, page_start(page)), arg);
		/* Inside a large object the descriptors are empty, so nothing is met there. */
		page += page_is_in_use(page) ? page->nr_slices : 1;
	}
	return r;
}
