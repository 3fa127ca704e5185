/* SPDX-License-Identifier: MIT */
/*
 * The end of a tenant: everything is freed that a group owns, or has inherited.
 *
 * Objects name the owner that they were charged to, and each is credited what was its own. Most
 * groups have inherited nothing: of those, only the views of their one owner are looked at, and
 * the pages that views share.
 */
#include <string.h>

#include "charge/owner.h"
#include "kmem/cache.h"
#include "kmem/check.h"
#include "kmem/free.h"
#include "kmem/free_map.h"
#include "kmem/heap.h"
#include "kmem/large.h"
#include "kmem/list.h"
#include "kmem/mapping.h"
#include "kmem/queue.h"

/* Owners that are credited together. With more of them the heap is looked through again. */
#define NR_CREDITS 128u

struct credit {
	uint32_t owner;
	uint64_t nr_bytes;
};

struct end {
	const struct umemcg *group;
	bool has_inherited;
	bool is_incomplete; /* there was no room for some owner's credit */
	unsigned int nr_credits;
	struct credit credits[NR_CREDITS];
};

static bool is_doomed(const struct end *end, uint32_t owner)
{
	if (owner == end->group->owner)
		return true;
	return end->has_inherited && owner && owner_counter(owner) == end->group->id;
}

/* NULL if there is no room for another owner. */
static struct credit *credit_of(struct end *end, uint32_t owner)
{
	unsigned int i = 0;

	while (i < end->nr_credits && end->credits[i].owner != owner)
		i++;
	if (i == NR_CREDITS) {
		end->is_incomplete = true;
		return NULL;
	}
	if (i == end->nr_credits)
		end->credits[end->nr_credits++] = (struct credit){ .owner = owner };
	return &end->credits[i];
}

/* With no lock held: crediting may have to wait for who has one. */
static void give_credits(struct end *end)
{
	for (unsigned int i = 0; i < end->nr_credits; i++)
		credit_owner(end->credits[i].owner, end->credits[i].nr_bytes);
	end->nr_credits = 0;
}

static void add_gates(const struct end *end, struct free_map *map, struct page *page)
{
	const struct view *view = heap_find_view(page->heap, end->group->owner);

	if (!end->has_inherited) {
		if (view)
			free_map_add_gate(map, page, view);
		return;
	}
	for (unsigned int i = 0; i < HEAP_NR_BUCKETS; i++) {
		for (view = page->heap->buckets[i]; view; view = view->next) {
			if (is_doomed(end, view->owner))
				free_map_add_gate(map, page, view);
		}
	}
}

static bool free_block(struct end *end, struct page *page, void *block)
{
	uint32_t owner = page_owner_of(page, block);
	struct credit *credit = is_doomed(end, owner) ? credit_of(end, owner) : NULL;

	if (!credit)
		return false;
	credit->nr_bytes += page->block_bytes;
	cache_forget(block, page->block_bytes);
	if (CONFIG_HARDENED)
		check_mark_free(block);
	return true;
}

/* The heap is held. */
static void free_in_page(struct end *end, struct page *page)
{
	void *first = NULL, *last = NULL;
	struct free_map map;
	uint32_t nr = 0;

	free_map_init(&map, page);
	add_gates(end, &map, page);
	for (uint32_t i = 0; i < page->nr_carved; i++) {
		void *block = block_at(page, i);

		if (free_map_has(&map, i) || !free_block(end, page, block))
			continue;
		list_link(block, first);
		first = block;
		last = last ? last : block;
		nr++;
	}
	if (first)
		free_remotely(page, first, last, nr);
}

static void free_in_queues(struct end *end, const struct page_queue *queues,
			   const struct page_queue *full)
{
	for (unsigned int size_class = 0; size_class < NR_CLASSES; size_class++) {
		for (struct page *page = queues[size_class].first; page; page = page->next)
			free_in_page(end, page);
	}
	for (struct page *page = full->first; page; page = page->next)
		free_in_page(end, page);
}

static void free_in_bucket(struct end *end, const struct view *view)
{
	for (; view; view = view->next) {
		if (is_doomed(end, view->owner))
			free_in_queues(end, view->pages->queues, &view->pages->full);
	}
}

static void free_in_heap(struct end *end, struct heap *heap)
{
	uint32_t own = end->group->owner % HEAP_NR_BUCKETS;

	free_in_queues(end, heap->queues, &heap->full);
	if (!end->has_inherited) {
		free_in_bucket(end, heap->buckets[own]);
		return;
	}
	for (unsigned int i = 0; i < HEAP_NR_BUCKETS; i++)
		free_in_bucket(end, heap->buckets[i]);
}

static void free_small(struct end *end, struct heap *heap)
{
	do {
		end->is_incomplete = false;
		lock_get(&heap->lock);
		free_in_heap(end, heap);
		/* The thread's own pages are free at once, others' when their threads look. */
		if (heap == thread.heap || !heap->is_taken)
			heap_listen(heap);
		lock_put(&heap->lock);
		/* Ends: what is credited now is not found again, and makes room for others. */
		if (end->is_incomplete)
			give_credits(end);
	} while (end->is_incomplete);
}

static bool is_doomed_owner(uint32_t owner, void *arg)
{
	return is_doomed(arg, owner);
}

static void free_large(struct end *end)
{
	/* Of one owner all are in one place. */
	uint32_t only = end->has_inherited ? 0 : end->group->owner;
	struct page *page, *next;

	/* A fork finds them charged and there, or neither. */
	mapping_begin();
	page = large_take_all(only, is_doomed_owner, end);
	for (; page; page = next) {
		uint32_t owner = page_owner_of(page, page_start(page));
		uint64_t nr_bytes = page->nr_large_bytes;

		next = page->next;
		cache_forget(page_start(page), nr_bytes);
		large_free_taken(page);
		credit_owner(owner, nr_bytes);
	}
	mapping_end();
}

void heap_free_all(const struct umemcg *group)
{
	struct end end = { .group = group };

	/* Relaxed: the destruction that set it has returned. */
	end.has_inherited = atomic_load_explicit(&group->has_inherited, memory_order_relaxed);
	free_large(&end);
	for (struct heap *heap = heap_first(); heap; heap = heap->next)
		free_small(&end, heap);
	give_credits(&end);
}
