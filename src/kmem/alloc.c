/* SPDX-License-Identifier: MIT */
/*
 * Allocating.
 *
 * The fast path pops a block that is charged already: with the controller or without it is about
 * ten instructions, as the count of charged blocks takes the place of the test for an empty list.
 */
#include <errno.h>
#include <string.h>

#include "base/init.h"
#include "kmem/again.h"
#include "kmem/alloc.h"
#include "kmem/heap.h"
#include "kmem/large.h"
#include "kmem/list.h"
#include "kmem/check.h"
#include "umemcg.h"

static noinline void *out_of_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

static always_inline void *pop(struct stock_gate *gate)
{
	void *object = gate->objects;

	gate->objects = list_next(object);
	if (CONFIG_HARDENED)
		check_mark_live(object);
	return object;
}

/* After the gate failed: commit one block to the caller, filling the list if need be. As
 * stock_refill(). */
static int refill(struct view *view, unsigned int size_class)
{
	struct stock_gate *gate = &view->stock.gates[size_class];
	int r;

	do {
		uint32_t nr_new = gate->objects ? 0 : view_fetch(view, size_class);

		if (!gate->objects) {
			stock_undo_take(&view->stock, size_class);
			return -ENOMEM;
		}
		r = stock_refill(&view->stock, size_class, nr_new);
		if (unlikely(r < 0) || likely(gate->objects != NULL))
			return r;
		/* What ran on behalf of the refill has used the block; its charge is ours. */
		stock_uncharge(&view->stock, class_block_bytes(size_class));
	} while (!stock_take_object(gate));
	return 0;
}

static always_inline void *alloc_from(struct view *view, unsigned int size_class)
{
	struct stock_gate *gate = &view->stock.gates[size_class];

	if (unlikely(!stock_take_object(gate)) && refill(view, size_class) < 0)
		return NULL;
	return pop(gate);
}

void *view_alloc_bytes(struct view *view, size_t nr_bytes)
{
	if (nr_bytes <= CLASS_MAX_BYTES)
		return alloc_from(view, class_of(nr_bytes));
	return large_alloc(view, nr_bytes, 1, false);
}

/* As the thread stands now. The class is looked up again: the library's first allocation came
 * before there were any. */
static void *try_alloc(size_t nr_bytes)
{
	struct view *view = thread_view();

	return view ? alloc_from(view, class_of(nr_bytes)) : NULL;
}

static void *try_alloc_large(size_t nr_bytes, size_t alignment, bool zeroed)
{
	struct view *view = thread.view == thread.closed ? thread_view() : thread.view;

	if (!view || unlikely(view->heap->is_at_work))
		return NULL;
	return large_alloc(view, nr_bytes, alignment, zeroed);
}

/* Refused: as often as room is made. What makes it may have entered another group. */
static cold void *alloc_again(size_t nr_bytes)
{
	struct charge_attempt attempt = { 0 };

	while (thread_try_again(&attempt)) {
		void *object = try_alloc(nr_bytes);

		if (object)
			return object;
	}
	return out_of_memory();
}

/* The first object since the thread entered its group. */
static noinline void *alloc_first(size_t nr_bytes)
{
	void *object = try_alloc(nr_bytes);

	if (unlikely(!object))
		return alloc_again(nr_bytes);
	view_throttle(thread.view);
	return object;
}

static cold void *alloc_charged(struct view *view, unsigned int size_class)
{
	void *object = pop(&view->stock.gates[size_class]);

	view_throttle(view);
	return object;
}

static noinline void *alloc_slowly(size_t nr_bytes)
{
	struct view *view = thread.view;
	unsigned int size_class;
	int r;

	if (view == thread.closed)
		return alloc_first(nr_bytes);
	size_class = class_of(nr_bytes);
	r = refill(view, size_class);
	if (likely(!r))
		return pop(&view->stock.gates[size_class]);
	return r < 0 ? alloc_again(nr_bytes) : alloc_charged(view, size_class);
}

static noinline void *alloc_large(size_t nr_bytes, size_t alignment, bool zeroed)
{
	struct charge_attempt attempt = { 0 };
	void *object;

	do {
		object = try_alloc_large(nr_bytes, alignment, zeroed);
	} while (unlikely(!object) && thread_try_again(&attempt));
	if (unlikely(!object))
		return out_of_memory();
	view_throttle(thread.view);
	return object;
}

static always_inline void *alloc(size_t nr_bytes)
{
	struct stock_gate *gate;

	if (unlikely(nr_bytes > CLASS_MAX_BYTES))
		return alloc_large(nr_bytes, 1, false);
	gate = class_gate(&thread.view->stock, nr_bytes);
	/* One address for the count and the list, which the compiler would otherwise make twice. */
	__asm__("" : "+r"(gate));
	if (unlikely(!stock_take_object(gate)))
		return alloc_slowly(nr_bytes);
	return pop(gate);
}

void *umemcg_malloc(size_t size)
{
	return alloc(size);
}

void *umemcg_calloc(size_t nr_objects, size_t size)
{
	size_t nr_bytes;
	void *object;

	if (unlikely(__builtin_mul_overflow(nr_objects, size, &nr_bytes)))
		return out_of_memory();
	if (unlikely(nr_bytes > CLASS_MAX_BYTES))
		return alloc_large(nr_bytes, 1, true);
	object = alloc(nr_bytes);
	return object ? memset(object, 0, nr_bytes) : NULL;
}

void *umemcg_aligned_alloc(size_t alignment, size_t size)
{
	unsigned int size_class;

	if (unlikely(!alignment || (alignment & (alignment - 1)))) {
		errno = EINVAL;
		return NULL;
	}
	library_init();
	size_class = class_aligned(size, alignment);
	if (size_class == NR_CLASSES)
		return alloc_large(size, alignment, false);
	return alloc(class_block_bytes(size_class));
}

void *umemcg_malloc_in(struct umemcg *group, size_t size)
{
	struct charge_attempt attempt = { 0 };
	void *object;

	do {
		struct heap *heap = heap_of_thread();
		struct view *view = heap ? heap_view(heap, heap_owner_of(group)) : NULL;

		object = view ? view_alloc_bytes(view, size) : NULL;
		if (object) {
			view_throttle(view);
			return object;
		}
	} while (thread_try_again(&attempt));
	return out_of_memory();
}
