/* SPDX-License-Identifier: MIT */
/* mremap: what it moves stays whose it is, what it adds is charged to the caller's group. */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "base/system.h"
#include "books.h"
#include "mappings.h"

/* One call. Of the entry, what is charged ahead is used, not the range. */
struct remap {
	struct books_entry entry;
	uint64_t old;
	uint64_t nr_old_bytes;
	uint64_t nr_bytes;
	int flags;
};

/* What grows is what its last page is; one that was released can be written. */
static enum span_state state_of_growth(const struct remap *remap)
{
	uint64_t end = remap->old + remap->nr_old_bytes;
	struct span last;

	if (!spans_next(end - 1, end, &last))
		return SPAN_NONE;
	return last.state == SPAN_RELEASED ? SPAN_CHARGED : last.state;
}

static uint64_t growth(const struct remap *remap)
{
	return remap->nr_bytes > remap->nr_old_bytes ? remap->nr_bytes - remap->nr_old_bytes : 0;
}

/* For books_cover(): the entry is the first member. */
static uint64_t need(const struct books_entry *entry)
{
	const struct remap *remap = (const struct remap *)entry;

	return state_of_growth(remap) == SPAN_CHARGED ? growth(remap) : 0;
}

static int make_room(const struct remap *remap)
{
	uint64_t end = remap->old + remap->nr_old_bytes;
	uint64_t nr_changes = 4; /* what is displaced, left behind, cut off and added */
	struct span span;

	for (uint64_t from = remap->old; spans_next(from, end, &span); from = span.end)
		nr_changes++;
	return spans_make_room(nr_changes);
}

/* Carry the spans of the first @nr_bytes to their new place, where nothing is known. */
static void move(const struct remap *remap, uint64_t new, uint64_t nr_bytes, bool stays)
{
	uint64_t end = remap->old + nr_bytes;
	struct span span;

	for (uint64_t from = remap->old; spans_next(from, end, &span); from = span.end)
		spans_set(new + (span.start - remap->old), new + (span.end - remap->old),
			  span.state, span.owner);
	for (uint64_t from = remap->old; spans_next(from, end, &span); from = span.end) {
		if (!stays)
			spans_set(span.start, span.end, SPAN_NONE, 0);
		else if (span.state == SPAN_CHARGED)
			spans_set(span.start, span.end, SPAN_RELEASED, 0);
	}
}

static void write_down(struct remap *remap, uint64_t new)
{
	struct books_entry *entry = &remap->entry;
	enum span_state state = state_of_growth(remap);
	uint64_t nr_moved = min(remap->nr_old_bytes, remap->nr_bytes);
	bool stays = (remap->flags & MREMAP_DONTUNMAP);

	if (new != remap->old) {
		books_replace(entry, new, new + remap->nr_bytes, SPAN_NONE);
		move(remap, new, nr_moved, stays);
	}
	if (!stays)
		books_replace(entry, remap->old + nr_moved, remap->old + remap->nr_old_bytes,
			      SPAN_NONE);
	if (growth(remap))
		books_replace(entry, new + nr_moved, new + remap->nr_bytes, state);
}

static void *try_remap(void *old, size_t nr_old_bytes, size_t nr_bytes, int flags, void *address)
{
	struct remap remap = {
		.old = (uintptr_t)old,
		.nr_old_bytes = books_page_up(nr_old_bytes),
		.nr_bytes = books_page_up(nr_bytes),
		.flags = flags,
	};
	void *result = MAP_FAILED;

	/* Of no length is what is shared and mapped once more. */
	if (!nr_old_bytes || !nr_bytes || !books_open(&remap.entry, old, nr_old_bytes))
		return system_mremap(old, nr_old_bytes, nr_bytes, flags, address);
	books_lock();
	if (books_cover(&remap.entry, need) || make_room(&remap))
		errno = ENOMEM;
	else
		result = system_mremap(old, nr_old_bytes, nr_bytes, flags, address);
	if (result != MAP_FAILED)
		write_down(&remap, (uintptr_t)result);
	books_unlock();
	books_close(&remap.entry);
	return result;
}

void *mappings_remap(void *old, size_t nr_old_bytes, size_t nr_bytes, int flags, void *address)
{
	struct charge_attempt attempt = { 0 };
	void *result;

	do {
		result = try_remap(old, nr_old_bytes, nr_bytes, flags, address);
	} while (result == MAP_FAILED && books_try_again(&attempt));
	if (result != MAP_FAILED)
		books_throttle();
	return result;
}
