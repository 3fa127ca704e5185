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

/* After the gate failed: commit one block to the caller, filling the list if need be. */
static bool refill(struct view *view, unsigned int size_class)
{
	struct stock_gate *gate = &view->stock.gates[size_class];

	do {
		uint32_t nr_new = gate->objects ? 0 : view_fetch(view, size_class);

		if (!gate->objects) {
			stock_undo_take(&view->stock, size_class);
			return false;
		}
		if (stock_refill(&view->stock, size_class, nr_new))
			return false;
		if (likely(gate->objects != NULL))
			return true;
		/* What ran on behalf of the refill has used the block; its charge is ours. */
		stock_uncharge(&view->stock, class_block_bytes(size_class));
	} while (!stock_take_object(gate));
	return true;
}

static always_inline void *alloc_from(struct view *view, unsigned int size_class)
{
	struct stock_gate *gate = &view->stock.gates[size_class];

	if (unlikely(!stock_take_object(gate)) && !refill(view, size_class))
		return out_of_memory();
	return pop(gate);
}

void *view_alloc_bytes(struct view *view, size_t nr_bytes)
{
	void *object;

	if (nr_bytes <= CLASS_MAX_BYTES)
		return alloc_from(view, class_of(nr_bytes));
	object = large_alloc(view, nr_bytes, 1, false);
	return object ? object : out_of_memory();
}

/* The class is looked up again: the library's first allocation came before there were any. */
static noinline void *alloc_slowly(size_t nr_bytes)
{
	struct view *view = thread.view;
	unsigned int size_class;

	if (view == thread.closed) {
		view = thread_view();
		return view ? alloc_from(view, class_of(nr_bytes)) : out_of_memory();
	}
	size_class = class_of(nr_bytes);
	return refill(view, size_class) ? pop(&view->stock.gates[size_class]) : out_of_memory();
}

static noinline void *alloc_large(size_t nr_bytes, size_t alignment, bool zeroed)
{
	struct view *view = thread.view == thread.closed ? thread_view() : thread.view;
	void *object = NULL;

	if (view && likely(!view->heap->is_at_work))
		object = large_alloc(view, nr_bytes, alignment, zeroed);

	return object ? object : out_of_memory();
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
	struct heap *heap = heap_of_thread();
	struct view *view = heap ? heap_view(heap, heap_owner_of(group)) : NULL;

	return view ? view_alloc_bytes(view, size) : out_of_memory();
}
