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
#include "kmem/mapping.h"
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

static void shrink_large(struct page *page, uint32_t owner, uint64_t nr_bytes)
{
	uint64_t nr_old = page->nr_large_bytes;

	large_resize(page, nr_bytes);
	credit_owner(owner, nr_old - nr_bytes);
}

/* NULL with *ret_is_refused unset: not as it is; it may be copied. */
static void *grow_large(void *object, struct page *page, uint32_t owner, uint64_t nr_bytes,
			bool *ret_is_refused)
{
	uint64_t nr_more = nr_bytes - page->nr_large_bytes;
	struct view *view = view_of_owner(owner);

	*ret_is_refused = !view || !large_fits(nr_bytes, 1) || stock_charge(&view->stock, nr_more);
	if (*ret_is_refused)
		return NULL;
	if (!large_resize(page, nr_bytes))
		object = large_move(page, nr_bytes);
	if (!object)
		stock_uncharge(&view->stock, nr_more);
	return object;
}

/* A fork finds all of the object charged and there, before or after. */
static void *resize_large(void *object, struct page *page, size_t size)
{
	uint32_t owner = page_owner_of(page, object);
	uint64_t nr_bytes = large_bytes(size);
	bool is_refused = false;
	void *new = object;

	if (!nr_bytes)
		return NULL;
	mapping_begin();
	if (nr_bytes <= page->nr_large_bytes)
		shrink_large(page, owner, nr_bytes);
	else
		new = grow_large(object, page, owner, nr_bytes, &is_refused);
	mapping_end();
	return new || is_refused ? new : copy(object, page, size);
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
		/* One that was to become smaller may as well stay, and nobody is asked for room. */
		if (unlikely(!new) && size <= page_charged_bytes(page)) {
			thread_forget_refusal();
			return object;
		}
	} while (unlikely(!new) && thread_try_again(&attempt));
	if (unlikely(!new))
		return out_of_memory();
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
