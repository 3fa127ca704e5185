/* SPDX-License-Identifier: MIT */
/*
 * Freeing.
 *
 * The fast path: the page belongs to the view that the thread allocates from, so the block goes on
 * the page's list, and its bytes into the view's stock. Everything else is nontrivial.
 */
#include "kmem/free.h"

#include <pthread.h>

#include "charge/owner.h"
#include "kmem/check.h"
#include "kmem/foreign.h"
#include "kmem/heap.h"
#include "kmem/large.h"
#include "kmem/list.h"
#include "kmem/mapping.h"
#include "kmem/queue.h"
#include "umemcg.h"

/* Objects of one owner in a row that a thread frees before it gets a view for them. */
#define NR_CREDITS 8u

/* Only for a thread that there is no memory to make a heap for. */
static void credit_without_heap(uint32_t owner, uint64_t nr_bytes)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct flight flight;
	static bool is_registered;

	pthread_mutex_lock(&lock);
	if (!is_registered)
		flight_register(&flight);
	is_registered = true;
	owner_uncharge(&flight, owner, nr_bytes);
	pthread_mutex_unlock(&lock);
}

/*
 * The view whose stock takes the bytes, if there is one. A thread that frees many objects of an
 * owner gets one, even if it never allocates.
 */
static struct view *find_view(struct heap *heap, uint32_t owner)
{
	struct view *view = heap_find_view(heap, owner);

	if (view)
		return view;
	if (heap->last_credited != owner) {
		heap->last_credited = owner;
		heap->nr_credited = 0;
	}
	return ++heap->nr_credited < NR_CREDITS ? NULL : heap_view(heap, owner);
}

static noinline void credit_other(uint32_t owner, uint64_t nr_bytes)
{
	struct heap *heap = heap_of_thread();
	struct view *view;

	if (!owner)
		return;
	view = heap ? find_view(heap, owner) : NULL;
	if (view && view->is_bound) {
		thread.credited = view;
		if (!stock_put_bytes(&view->stock, nr_bytes))
			stock_uncharge(&view->stock, nr_bytes);
	} else if (heap) {
		owner_uncharge(&heap->flight, owner, nr_bytes);
	} else {
		credit_without_heap(owner, nr_bytes);
	}
}

static always_inline void credit(uint32_t owner, uint64_t nr_bytes)
{
	struct view *view = thread.view;

	if (!CONFIG_MEMCG)
		return;
	if (unlikely(view->owner != owner)) {
		view = thread.credited;
		if (unlikely(view->owner != owner)) {
			credit_other(owner, nr_bytes);
			return;
		}
	}
	if (unlikely(!stock_put_bytes(&view->stock, nr_bytes)))
		stock_uncharge(&view->stock, nr_bytes);
}

void credit_owner(uint32_t owner, uint64_t nr_bytes)
{
	credit(owner, nr_bytes);
}

static always_inline void push(struct page *page, void *object)
{
	list_link(object, page_free_list(page));
	page_set_free_list(page, object);
}

/* A block of the thread's own heap, but of another view than the current one. */
static noinline void free_locally(struct page *page, void *object)
{
	uint32_t owner = page_owner_of(page, object);
	uint64_t nr_bytes = page->block_bytes;

	push(page, object);
	if (unlikely(!--page->countdown))
		page_attention(page);
	credit(owner, nr_bytes);
}

void free_remotely(struct page *page, void *first, void *last, uint32_t nr)
{
	/* Once pushed the page may go, unless it is still to be notified. */
	if (page_push_remote(page, first, last, nr))
		heap_notify(page);
}

/* A fork finds the object charged and there, or neither. */
static void free_large(struct page *page)
{
	uint32_t owner = atomic_load_explicit(&page->owner, memory_order_relaxed);
	uint64_t nr_bytes = page->nr_large_bytes;

	mapping_begin();
	large_free(page);
	credit(owner, nr_bytes);
	mapping_end();
}

static noinline void free_far(struct page *page, void *object)
{
	if (page_kind(page) == PAGE_LARGE && object == page_start(page)) {
		/* In a handler, as in heap_begin(): lost, rather than waited for. */
		if (unlikely(thread.heap && thread.heap->is_at_work))
			return;
		free_large(page);
	} else if (page_kind(page) == PAGE_SMALL) {
		uint64_t nr_bytes = page_charged_bytes(page);
		uint32_t owner = page_owner_of(page, object);

		free_remotely(page, object, object, 1);
		credit(owner, nr_bytes);
	} else {
		check_bad_pointer(object);
	}
}

static noinline void free_nontrivial(struct page *page, void *object)
{
	page = page_first(page);
	if (likely(page->heap == thread.heap && page->heap))
		free_locally(page, object);
	else
		free_far(page, object);
}

static noinline void uncharge_and_count(struct page *page)
{
	struct stock *stock = &thread.view->stock;

	stock_undo_keep(stock, page->block_bytes);
	stock_uncharge(stock, page->block_bytes);
	if (!--page->countdown)
		page_attention(page);
}

void umemcg_free(void *object)
{
	struct view *view = thread.view;
	const void *whose;
	struct page *page;

	if (unlikely(!page_is_ours(object))) {
		if (object)
			foreign_notice(object);
		return;
	}
	if (CONFIG_HARDENED)
		check_mark_free(object);
	page = page_of_slice(object);
	whose = page_whose(page);
	/* Where owners mix, an object of the current one has as short a way, but for its tag. */
	if (unlikely(whose != view) &&
	    (whose != thread.sharing || page_owner_by_tag(page, object) != view->owner)) {
		free_nontrivial(page, object);
		return;
	}
	push(page, object);
	if (unlikely(!stock_keep_bytes(&view->stock, page->block_bytes))) {
		uncharge_and_count(page);
		return;
	}
	if (unlikely(!--page->countdown))
		page_attention(page);
}
