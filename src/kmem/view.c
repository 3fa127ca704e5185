/* SPDX-License-Identifier: MIT */
/*
 * Views: one owner's part of a heap.
 *
 * A view's first blocks of a class come from pages that all views of the heap share, in batches
 * that double; once it has taken SHARED_BYTES it gets pages of its own. So groups with few
 * objects cost little more than their objects, and those with many need no tags.
 */
#include <errno.h>

#include "kmem/arena.h"
#include "kmem/heap.h"
#include "kmem/list.h"
#include "kmem/meta.h"
#include "kmem/queue.h"

#define SHARED_BYTES       8192u
#define SHARED_BATCH_BYTES 4096u
#define SHARED_FIRST_BYTES 2048u

/* What is carved at once, at first: memory is touched only when it is needed. */
#define CARVE_BYTES     4096u
#define CARVE_SHIFT_MAX 4u

#define FEW_BLOCKS 16u
#define FEW_BYTES  16384u

/* Views that are looked at for one to evict. */
#define NR_CANDIDATES 3u

static struct view **bucket_of(struct heap *heap, uint32_t owner)
{
	return &heap->buckets[owner % HEAP_NR_BUCKETS];
}

struct view *heap_find_view(const struct heap *heap, uint32_t owner)
{
	struct view *view = heap->buckets[owner % HEAP_NR_BUCKETS];

	while (view && view->owner != owner)
		view = view->next;
	return view;
}

/* ---- blocks for a gate ---- */

static void *take_free(struct page *page, uint32_t *ret_nr)
{
	void *first = page_free_list(page);

	*ret_nr = page->nr_carved - page->countdown;
	page_set_free_list(page, NULL);
	page->countdown = page->nr_carved;
	return first;
}

/* Each batch of blocks has its price, so it should not be fewer than this, nor be much memory. */
static uint32_t nr_few(const struct page *page)
{
	return min(FEW_BLOCKS, FEW_BYTES / page->block_bytes);
}

/* The more pages a view has, the more surely it will need what is carved. */
static uint32_t carve_bytes(const struct page *page)
{
	uint32_t nr_pages = page->home ? page->home->nr_pages[page->size_class] : 1;

	return max(CARVE_BYTES << min(nr_pages - 1, CARVE_SHIFT_MAX),
		   nr_few(page) / 2 * page->block_bytes);
}

/* Blocks never used, and behind them the few that were freed. */
static void *take_fresh(struct page *page, uint32_t *ret_nr)
{
	uint32_t nr_fresh, nr_free;
	void *freed = take_free(page, &nr_free);
	void *last, *first = page_carve(page, carve_bytes(page), &last, &nr_fresh);

	if (freed)
		list_link(last, freed);
	page->countdown = page->nr_carved;
	*ret_nr = nr_fresh + nr_free;
	return first;
}

/* Take as many blocks from a page of the view's own as come at once, if they are worth it. */
static void *take_from_page(struct page *page, uint32_t *ret_nr)
{
	uint32_t nr_free = page->nr_carved - page->countdown;

	if (nr_free >= page->threshold &&
	    (nr_free >= nr_few(page) || page->nr_carved == page->nr_blocks))
		return take_free(page, ret_nr);
	/* They count as out already. */
	if (page_nr_remote(page) >= page->threshold)
		return page_take_remote(page, ret_nr);
	if (page->nr_carved < page->nr_blocks)
		return take_fresh(page, ret_nr);
	return NULL;
}

static uint32_t fetch_from_queue(struct view *view, unsigned int size_class)
{
	struct page *page;

	while ((page = view->pages->queues[size_class].first)) {
		uint32_t nr;
		void *first = take_from_page(page, &nr);

		if (first) {
			stock_list(&view->stock, size_class, first, nr);
			return nr;
		}
		page_set_full(page);
	}
	return 0;
}

static uint32_t fetch_from_new(struct view *view, unsigned int size_class)
{
	struct page *page = page_create(view->heap, view, size_class);

	if (!page)
		return 0;
	atomic_store_explicit(&page->owner, view->owner, memory_order_relaxed);
	page_enqueue(page);
	view->heap->nr_pages++;
	view->nr_pages[size_class]++;
	return fetch_from_queue(view, size_class);
}

static void list_more(struct page *page)
{
	uint32_t nr;
	void *last, *first = page_carve(page, carve_bytes(page), &last, &nr);

	if (!first)
		return;
	list_link(last, page_free_list(page));
	page_set_free_list(page, first);
}

/*
 * A page that all views share, with a free block on its list, or with as many as are wanted unless
 * all its blocks were used before; NULL without memory.
 */
static struct page *shared_page(struct heap *heap, unsigned int size_class, uint32_t nr_wanted)
{
	struct page *page;

	while ((page = heap->queues[size_class].first)) {
		if (!page_free_list(page))
			page_take_back(page);
		if (page->nr_carved - page->countdown < nr_wanted)
			list_more(page);
		if (page_free_list(page))
			return page;
		page_set_full(page);
	}
	page = page_create(heap, NULL, size_class);
	if (!page)
		return NULL;
	page_enqueue(page);
	heap->nr_pages++;
	return shared_page(heap, size_class, nr_wanted);
}

/* As many blocks as the view has taken already, from a few on. */
static uint32_t shared_batch(const struct view *view, unsigned int size_class)
{
	uint32_t nr_first = max(SHARED_FIRST_BYTES / class_block_bytes(size_class), 1u);
	uint32_t nr_most = max(SHARED_BATCH_BYTES / class_block_bytes(size_class), 1u);
	uint32_t nr_taken = view->nr_shared[size_class];

	return min(max(nr_taken, nr_first), nr_most);
}

static uint32_t fetch_from_shared(struct view *view, unsigned int size_class)
{
	uint32_t nr_wanted = shared_batch(view, size_class), nr = 0;
	struct page *page = shared_page(view->heap, size_class, nr_wanted);
	void *first, *last = NULL, *next;
	uintptr_t tags;

	if (!page)
		return 0;
	tags = page_tags(page);
	first = page_free_list(page);
	for (next = first; next && nr < nr_wanted; nr++) {
		last = next;
		/* relaxed: the blocks are this thread's until it hands them out. */
		atomic_store_explicit(page_tag(page, tags, last), view->owner,
				      memory_order_relaxed);
		next = list_next(last);
	}
	list_link(last, NULL);
	page_set_free_list(page, next);
	stock_list(&view->stock, size_class, first, nr);
	page->countdown += nr;
	view->nr_shared[size_class] += nr;
	return nr;
}

static bool has_own_pages(const struct view *view, unsigned int size_class)
{
	return view->has_own_pages ||
	       view->nr_shared[size_class] * class_block_bytes(size_class) >= SHARED_BYTES;
}

static uint32_t fetch(struct view *view, unsigned int size_class)
{
	struct heap *heap = view->heap;
	uint32_t nr = fetch_from_queue(view, size_class);

	if (nr)
		return nr;
	/* relaxed: heap_listen() looks properly. */
	if (atomic_load_explicit(&heap->notified, memory_order_relaxed)) {
		heap_listen(heap);
		nr = fetch_from_queue(view, size_class);
		if (nr)
			return nr;
	}
	if (!has_own_pages(view, size_class))
		return fetch_from_shared(view, size_class);
	return fetch_from_new(view, size_class);
}

uint32_t view_fetch(struct view *view, unsigned int size_class)
{
	uint32_t nr;

	if (!heap_begin(view->heap))
		return 0;
	nr = fetch(view, size_class);
	heap_end(view->heap);
	return nr;
}

/* ---- coming and going ---- */

/* Put the blocks that are listed at a gate back into the page they all come from. */
static void release_gate(struct view *view, unsigned int size_class)
{
	void *first = view->stock.gates[size_class].objects, *last;
	struct page *page;
	uint32_t nr;

	if (!first)
		return;
	page = page_first(page_of_slice(first));
	view->stock.gates[size_class].objects = NULL;
	last = list_last(first, &nr);
	page_return(page, first, last, nr);
}

/* A page of the view's own goes if it is empty; otherwise all views share it from now on. */
static int release_page(struct page *page)
{
	page_take_back(page);
	/* acquire: pairs with claim_notice(). */
	if (page_nr_out(page) || atomic_load_explicit(&page->is_notified, memory_order_acquire))
		return page_share(page);
	page_dequeue(page);
	page->heap->nr_pages--;
	page_destroy(page);
	return 0;
}

int view_release(struct view *view)
{
	struct page *page;

	for (unsigned int size_class = 0; size_class < NR_CLASSES; size_class++) {
		release_gate(view, size_class);
		while ((page = view->pages->queues[size_class].first)) {
			if (release_page(page))
				return -ENOMEM;
		}
		view->nr_shared[size_class] = 0;
		view->nr_pages[size_class] = 0;
	}
	while ((page = view->pages->full.first)) {
		if (release_page(page))
			return -ENOMEM;
	}
	return 0;
}

/* The view that was not used for longest, of some; never one that was used just now. */
static struct view *find_old(struct heap *heap)
{
	struct view *oldest = NULL;
	unsigned int nr_seen = 0;

	for (unsigned int i = 0; i < HEAP_NR_BUCKETS && nr_seen < NR_CANDIDATES; i++) {
		struct view *view = heap->buckets[heap->hand++ % HEAP_NR_BUCKETS];

		for (; view; view = view->next) {
			if (view == thread.view || view->is_roots ||
			    view->last_use + 8 > heap->clock)
				continue;
			nr_seen++;
			if (!oldest || view->last_use < oldest->last_use)
				oldest = view;
		}
	}
	return oldest;
}

static uint64_t listed_gates(const struct view *view)
{
	uint64_t listed = 0;

	for (unsigned int size_class = 0; size_class < NR_CLASSES; size_class++) {
		if (view->stock.gates[size_class].objects)
			listed |= (uint64_t)1 << size_class;
	}
	return listed;
}

/* In flight now and then, so without the heap's lock: see kmem/fork.c. */
static void forget_gates(struct view *view, uint64_t gates)
{
	for (; gates; gates &= gates - 1)
		stock_forget_gate(&view->stock, __builtin_ctzll(gates));
}

static void evict(struct heap *heap)
{
	struct view *view = find_old(heap), **link;
	uint64_t listed;
	int r;

	if (!view)
		return;
	listed = listed_gates(view);
	lock_get(&heap->lock);
	r = view_release(view);
	lock_put(&heap->lock);
	forget_gates(view, listed & ~listed_gates(view));
	if (r)
		return;
	if (view == thread.charged)
		thread.charged = thread.closed;
	if (view == thread.credited)
		thread.credited = thread.closed;
	if (view->is_bound)
		stock_unbind(&view->stock);
	view->is_bound = false;
	lock_get(&heap->lock);
	for (link = bucket_of(heap, view->owner); *link != view; link = &(*link)->next)
		;
	*link = view->next;
	heap->nr_views--;
	view->next = heap->unused;
	heap->unused = view;
	lock_put(&heap->lock);
}

static struct view *create(struct heap *heap)
{
	struct view_pages *pages = meta_alloc(sizeof(*pages));
	struct view *view = pages ? arena_take(heap) : NULL;

	if (!view) {
		meta_free(pages, sizeof(*pages));
		return NULL;
	}
	view->pages = pages;
	stock_init(&view->stock, &heap->flight);
	return view;
}

static struct view *make(struct heap *heap, uint32_t owner)
{
	struct view *view;

	if (heap->nr_views >= min(max(heap->nr_pages / 2, HEAP_NR_VIEWS), HEAP_NR_VIEWS_MAX))
		evict(heap);
	view = heap->unused;
	if (view)
		heap->unused = view->next;
	else
		view = create(heap);
	if (!view)
		return NULL;
	view->owner = owner;
	view->is_roots = !owner || owner == group_root()->owner;
	view->has_own_pages = view->is_roots || heap->nr_views < HEAP_NR_OWN_PAGES;
	view->last_use = ++heap->clock;
	lock_get(&heap->lock);
	view->next = *bucket_of(heap, owner);
	*bucket_of(heap, owner) = view;
	heap->nr_views++;
	lock_put(&heap->lock);
	return view;
}

struct view *heap_view(struct heap *heap, uint32_t owner)
{
	struct view *view = heap_find_view(heap, owner);

	if (!view)
		view = make(heap, owner);
	if (!view)
		return NULL;
	view->last_use = ++heap->clock;
	if (!view->is_bound) {
		stock_bind(&view->stock, owner);
		view->is_bound = true;
	}
	return view;
}

void view_unbind(struct view *view)
{
	if (!view->is_bound)
		return;
	stock_unbind(&view->stock);
	view->is_bound = false;
}
