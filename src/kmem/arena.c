/* SPDX-License-Identifier: MIT */
#include "kmem/arena.h"

#include "charge/window.h"
#include "kmem/heap.h"
#include "kmem/run.h"

_Static_assert(WINDOW_DISTANCE == SLICE_BYTES, "a chunk and its window are slices");
_Static_assert(sizeof(struct view) <= WINDOW_ROW_BYTES, "a row for a view");

/* Without the controller there are no words, and so no windows. */
#define CHUNK_SLICES (CONFIG_MEMCG ? 2u : 1u)

/* Never given back, so nobody asks what is in it: its descriptors stay of no kind. */
static char *make_chunk(void)
{
	struct page *run = run_alloc_clean(CHUNK_SLICES);
	char *chunk;

	if (!run) {
		run_clean(0);
		run = run_alloc_clean(CHUNK_SLICES);
	}
	if (!run)
		return NULL;
	chunk = page_start(run);
	if (CONFIG_MEMCG && window_map(chunk)) {
		run_free(run, false);
		return NULL;
	}
	return chunk;
}

struct view *arena_take(struct heap *heap)
{
	char *row = heap->next_row;
	struct view *view;

	/* At the end of a chunk, or before the first. One word, so a fork finds no half of it. */
	if ((uintptr_t)row % WINDOW_DISTANCE == 0) {
		row = make_chunk();
		if (!row)
			return NULL;
	}
	/* The first rows of a chunk come with it. */
	if (CONFIG_MEMCG && window_commit(row))
		return NULL;
	heap->next_row = row + WINDOW_ROW_BYTES;
	view = (struct view *)row;
	view->heap = heap;
	return view;
}
