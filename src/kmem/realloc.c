/* SPDX-License-Identifier: MIT */
/*
 * Resizing. The owner stays the owner, whoever asks and whichever group the thread is in.
 *
 * An object that gets another block is charged twice while it is copied, so it may be refused then.
 * A large one that stays large is charged the difference only.
 */
#include <errno.h>
#include <string.h>

#include "kmem/again.h"
#include "kmem/alloc.h"
#include "kmem/check.h"
#include "kmem/foreign.h"
#include "kmem/free.h"
#include "kmem/heap.h"
#include "kmem/large.h"
#include "kmem/run.h"
#include "umemcg.h"

static void *out_of_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

static struct view *view_of_owner(uint32_t owner)
{
	struct heap *heap;

	if (thread.view->owner == owner)
		return thread.view;
	heap = heap_of_thread();
	return heap ? heap_view(heap, owner) : NULL;
}

static void *copy(void *object, struct page *page, size_t nr_bytes)
{
	uint64_t nr_old = page_charged_bytes(page);
	struct view *view = view_of_owner(page_owner_of(page, object));
	void *new = view ? view_alloc_bytes(view, nr_bytes) : NULL;

	if (!new)
		return NULL;
	memcpy(new, object, min(nr_old, nr_bytes));
	umemcg_free(object);
	return new;
}

static void *resize_large(void *object, struct page *page, size_t size)
{
	uint64_t nr_new = large_bytes(size), nr_old = page->nr_large_bytes;
	uint32_t owner = page_owner_of(page, object);
	struct view *view;
	void *new = object;

	if (!nr_new)
		return NULL;
	if (nr_new <= nr_old) {
		large_resize(page, nr_new);
		credit_owner(owner, nr_old - nr_new);
		return object;
	}
	view = view_of_owner(owner);
	if (!view || !large_fits(nr_new, 1) || stock_charge(&view->stock, nr_new - nr_old))
		return NULL;
	if (!large_resize(page, nr_new))
		new = large_move(page, nr_new);
	if (new)
		return new;
	stock_uncharge(&view->stock, nr_new - nr_old);
	return copy(object, page, size);
}

static cold void throttle(const void *object)
{
	uint32_t owner = page_owner_of(check_page_of(object), object);

	if (owner && thread.heap)
		charge_throttle(&thread.heap->flight, owner);
}

/* Everything is looked up anew: what made room may have charged the object to another group. */
static void *resize(void *object, struct page *page, size_t size)
{
	struct charge_attempt attempt = { 0 };
	void *new;

	do {
		if (page_kind(page) == PAGE_LARGE && size > CLASS_MAX_BYTES)
			new = resize_large(object, page, size);
		else
			new = copy(object, page, size);
	} while (unlikely(!new) && thread_try_again(&attempt));
	if (unlikely(!new))
		/* One that was to become smaller may as well stay. */
		return size <= page_charged_bytes(page) ? object : out_of_memory();
	if (unlikely(charge_may_throttle()))
		throttle(new);
	return new;
}

void *umemcg_realloc(void *object, size_t size)
{
	struct page *page;
	size_t nr_old;

	if (!object)
		return umemcg_malloc(size);
	if (!size) {
		umemcg_free(object);
		return NULL;
	}
	page = check_page_of(object);
	if (!page)
		return page_is_ours(object) ? out_of_memory() : foreign_realloc(object, size);
	nr_old = page_charged_bytes(page);
	if (size <= nr_old && size > nr_old / 2 &&
	    (page_kind(page) != PAGE_LARGE || size <= CLASS_MAX_BYTES))
		return object;
	return resize(object, page, size);
}

size_t umemcg_usable_size(const void *object)
{
	struct page *page = object ? check_page_of(object) : NULL;

	return page ? page_charged_bytes(page) : 0;
}
