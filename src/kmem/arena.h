/* SPDX-License-Identifier: MIT */
/*
 * Rows for views, cut from chunks that each hold a slice of the heap's address space; behind each
 * chunk lies another slice, the window in which the stocks of the views have their words.
 */
#ifndef UMEMCG_KMEM_ARENA_H
#define UMEMCG_KMEM_ARENA_H

struct heap;
struct view;

/** arena_take - a row of zeros for a view of a heap, with its window; NULL without memory */
struct view *arena_take(struct heap *heap);

#endif
