/* SPDX-License-Identifier: MIT */
#include "user/fill.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "base/system.h"
#include "charge/above.h"
#include "charge/charge.h"
#include "charge/counter.h"
#include "charge/owner.h"
#include "group/group.h"
#include "group/kind.h"
#include "kmem/heap.h"
#include "kmem/mapping.h"
#include "user/bounce.h"
#include "user/exchange.h"
#include "user/source.h"
#include "user/stream.h"
#include "user/userfault.h"

/* Given back at a time when a page does not fit. */
#define EVICT_BYTES_MAX ((uint64_t)32 * REGION_PAGE_BYTES)
#define EVICT_SHARE     64

/* A window takes no more than this part of what is left. */
#define HEADROOM_SHARE 4

enum window_kind { WINDOW_PRESENT, WINDOW_NEW, WINDOW_STORED };

/* What is to be filled: pages side by side of one kind, within a chunk. */
struct window {
	struct region *region;
	struct chunk *chunk;
	uint64_t first;
	uint32_t nr_pages;
	enum window_kind kind;
	bool brings_chunk; /* the first one of its chunk */
};

static enum window_kind kind_of(const struct window *window, uint64_t page)
{
	if (bit_is_set(window->chunk->present, page % CHUNK_NR_PAGES))
		return WINDOW_PRESENT;
	return *region_words(window->region, page) ? WINDOW_STORED : WINDOW_NEW;
}

/* Locked. How many pages from the first one on, at most @nr_pages, are of its kind? */
static void look(struct window *window, uint32_t nr_pages)
{
	uint64_t chunk_end = (window->first | (CHUNK_NR_PAGES - 1)) + 1;
	uint64_t end = min(min(window->first + nr_pages, chunk_end), window->region->nr_pages);

	window->brings_chunk = !window->chunk->is_charged;
	window->kind = WINDOW_NEW;
	/* Words of a chunk that was not touched are not to become resident for being looked at. */
	if (!window->brings_chunk)
		window->kind = kind_of(window, window->first);
	if (window->kind == WINDOW_STORED)
		end = min(end, window->first + BOUNCE_NR_PAGES);
	window->nr_pages = 1;
	while (window->first + window->nr_pages < end &&
	       (window->brings_chunk ||
		kind_of(window, window->first + window->nr_pages) == window->kind))
		window->nr_pages++;
}

static uint64_t window_bytes(const struct window *window)
{
	uint64_t nr_bytes = (uint64_t)window->nr_pages * REGION_PAGE_BYTES;

	if (window->brings_chunk)
		nr_bytes += region_state_bytes(window->region, window->first);
	return nr_bytes;
}

/*
 * Charge the window, or as much of it as fits without asking anybody for anything; the last page
 * exactly, if so @is_decided.
 */
static int charge(struct flight *flight, struct window *window, bool is_decided, uint32_t *ret_at)
{
	uint32_t owner = window->region->owner;

	if (window->nr_pages > 1) {
		uint64_t share = counter_headroom(owner_counter(owner), flight->reserve_depth > 0) /
				 REGION_PAGE_BYTES / HEADROOM_SHARE;

		window->nr_pages = max(min((uint64_t)window->nr_pages, share), 1u);
	}
	for (;;) {
		if (owner_try_charge_kind(flight, owner, KIND_ANON, window_bytes(window), ret_at))
			return 0;
		if (window->nr_pages == 1)
			break;
		window->nr_pages = 1;
	}
	return is_decided ? owner_charge_kind(flight, owner, KIND_ANON, window_bytes(window))
			  : -EAGAIN;
}

/* Locked, and charged: the pages are there now. */
static void account(const struct window *window)
{
	for (uint64_t page = window->first; page < window->first + window->nr_pages; page++) {
		unsigned int i = page % CHUNK_NR_PAGES;

		bit_set(window->chunk->present, i);
		if (window->kind == WINDOW_STORED)
			bit_set(window->chunk->active, i);
		else
			bit_clear(window->chunk->active, i);
	}
	/* relaxed: under the lock; others only look. */
	atomic_fetch_add_explicit(&window->region->nr_present, window->nr_pages,
				  memory_order_relaxed);
}

/*
 * A page that is there by the books. The program itself may have taken it away (MADV_DONTNEED), or
 * another thread was quicker: then there is nothing to do.
 */
static int restore(const struct window *window)
{
	size_t done;
	int r = userfault_copy(region_page_address(window->region, window->first), bounce_zeros(),
			       REGION_PAGE_BYTES, &done);

	return r == -EEXIST ? 0 : r;
}

/* These leave in the window what was filled. */
static int fill_new(struct window *window)
{
	size_t nr_bytes;
	int r = userfault_copy(region_page_address(window->region, window->first), bounce_zeros(),
			       (size_t)window->nr_pages * REGION_PAGE_BYTES, &nr_bytes);

	window->nr_pages = nr_bytes / REGION_PAGE_BYTES;
	/* As many as there are now will do, if there is one. */
	return nr_bytes ? 0 : r;
}

/* Into @pages; as many as can be read. */
static int read_stored(struct window *window, char *pages)
{
	for (uint32_t i = 0; i < window->nr_pages; i++) {
		int r = store_get(*region_words(window->region, window->first + i),
				  pages + (size_t)i * REGION_PAGE_BYTES);

		if (r)
			window->nr_pages = i;
		if (r && !i)
			return r;
	}
	return 0;
}

static int fill_stored(struct window *window)
{
	char *pages = bounce_get();
	size_t nr_bytes = 0;
	int r = read_stored(window, pages);

	if (!r)
		r = userfault_copy(region_page_address(window->region, window->first), pages,
				   (size_t)window->nr_pages * REGION_PAGE_BYTES, &nr_bytes);
	bounce_put(pages);
	window->nr_pages = nr_bytes / REGION_PAGE_BYTES;
	for (uint32_t i = 0; i < window->nr_pages; i++) {
		page_word *word = region_words(window->region, window->first + i);

		store_free(*word);
		*word = 0;
	}
	return nr_bytes ? 0 : r;
}

/*
 * Locked, with @nr_bytes charged. Whatever became of the pages since they were looked at, it is
 * filled as it is now.
 *
 * @ret_nr_bytes: what was needed of the charge.
 */
static int fill(struct window *window, uint64_t *ret_nr_bytes)
{
	int r;

	look(window, window->nr_pages);
	if (window->kind == WINDOW_PRESENT)
		return restore(window);
	if (window->brings_chunk) {
		window->chunk->is_charged = true;
		*ret_nr_bytes += region_state_bytes(window->region, window->first);
	}
	r = window->kind == WINDOW_STORED ? fill_stored(window) : fill_new(window);
	account(window);
	*ret_nr_bytes += (uint64_t)window->nr_pages * REGION_PAGE_BYTES;
	/* relaxed: under the lock; others only look. */
	atomic_fetch_add_explicit(&window->region->nr_bytes, *ret_nr_bytes, memory_order_relaxed);
	return r;
}

static int fill_charged(struct flight *flight, struct window *window)
{
	uint64_t nr_bytes = window_bytes(window), nr_bytes_needed = 0;
	int r;

	chunk_lock(window->chunk);
	r = fill(window, &nr_bytes_needed);
	chunk_unlock(window->chunk);
	if (nr_bytes > nr_bytes_needed)
		owner_uncharge_kind(flight, window->region->owner, KIND_ANON,
				    nr_bytes - nr_bytes_needed);
	return r;
}

/* -EAGAIN: it does not fit at *ret_at, unless something is given back. */
static int try_fill(struct window *window, uint32_t nr_pages, bool is_decided, uint32_t *ret_at)
{
	struct flight *flight = thread_flight();
	int r;

	if (!flight)
		return -ENOMEM;
	chunk_lock(window->chunk);
	look(window, nr_pages);
	if (window->kind == WINDOW_PRESENT) {
		r = restore(window);
		chunk_unlock(window->chunk);
		return r;
	}
	chunk_unlock(window->chunk);
	r = charge(flight, window, is_decided, ret_at);
	return r ? r : fill_charged(flight, window);
}

/*
 * By the group itself, at its own limit, where nobody else is to be asked first. Some pages at a
 * time, for a refusal costs more than a fault; but of a small group only a part.
 */
static uint64_t make_room(const struct region *region, uint32_t at)
{
	const struct reclaim_source *source = page_source;
	uint64_t usage, nr_bytes;

	if (at & ABOVE || at != owner_counter(region->owner))
		return 0;
	/* relaxed: about how much. */
	usage = atomic_load_explicit(&counter_row(at)->usage, memory_order_relaxed);
	nr_bytes = min(usage / EVICT_SHARE, EVICT_BYTES_MAX);
	return source->scan(group_row(at), max(nr_bytes, (uint64_t)REGION_PAGE_BYTES));
}

static int fill_window(struct window *window, uint32_t nr_pages, bool is_decided, uint32_t *ret_at)
{
	int r;

	mapping_begin();
	r = try_fill(window, nr_pages, is_decided, ret_at);
	mapping_end();
	return r;
}

/*
 * First what costs nobody else anything: pages of the group's own, at its own limit, and the
 * exchange. Then, as for any other charge, all that can be reclaimed; but for as long as anything
 * is.
 */
int fill_page(struct region *region, uint64_t page, uint32_t *nr_pages)
{
	struct charge_attempt attempt = { .is_touch = true };
	bool is_decided = false;

	for (;;) {
		struct window window = {
			.region = region,
			.chunk = region_chunk(region, page),
			.first = page,
		};
		uint32_t at = 0;
		int r = fill_window(&window, *nr_pages, is_decided, &at);

		if (r == -EAGAIN) {
			if (make_room(region, at))
				continue;
			is_decided = exchange_page(region, page) != 0;
		} else if (r == -ENOMEM && charge_try_again(thread_flight(), &attempt)) {
			is_decided = false;
		} else {
			*nr_pages = window.nr_pages;
			return r;
		}
	}
}

int fill_fault(const void *address)
{
	uint64_t page;
	struct region *region = region_get(address, &page);
	uintptr_t first;
	uint32_t nr_pages;
	int r;

	if (!region)
		return -EFAULT;
	first = (uintptr_t)region_page_address(region, page);
	nr_pages = stream_window(first);
	r = fill_page(region, page, &nr_pages);
	if (!r)
		stream_went_on(first + (uint64_t)nr_pages * REGION_PAGE_BYTES);
	region_put(region);
	return r;
}
