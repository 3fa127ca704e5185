/* SPDX-License-Identifier: MIT */
#include "touched.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "base/compiler.h"
#include "books.h"
#include "page.h"
#include "raw.h"

/* One question to the system: a byte a page, on the stack. */
#define NR_PAGES 1024u

/* What is looked at in one call takes half a millisecond if all of it is there. */
#define NR_BYTES_AT_ONCE ((uint64_t)64 << 20)
#define PERIOD_NS        ((uint64_t)10000000)

/* Relaxed, all of these: two threads may look at the same, or at once, and find it charged. */
static _Atomic uint64_t cursor;
static _Atomic uint64_t last_ns;
static _Atomic bool is_over;

/* Charge what is released of a range. */
static int charge(uint64_t start, uint64_t end)
{
	struct charge_attempt attempt = { 0 };
	struct books_entry entry;
	int r;

	do {
		if (!books_open(&entry, (void *)(uintptr_t)start, end - start))
			return 0;
		r = books_charge_released(&entry);
		books_close(&entry);
	} while (r && books_try_again(&attempt));
	return r;
}

static int charge_present(uint64_t start, const unsigned char *pages, uint64_t nr_pages)
{
	int r = 0;

	for (uint64_t i = 0, end; i < nr_pages && !r; i = end) {
		for (end = i + 1; end < nr_pages && (pages[end] & 1) == (pages[i] & 1);)
			end++;
		if (pages[i] & 1)
			r = charge(start + i * page_bytes(), start + end * page_bytes());
	}
	return r;
}

/* The next part of a released span at or behind @from; false if there is none. */
static bool next_released(uint64_t from, struct span *ret_span)
{
	bool is_found;

	books_lock();
	while ((is_found = spans_next(from, UINT64_MAX, ret_span)) &&
	       ret_span->state != SPAN_RELEASED)
		from = ret_span->end;
	books_unlock();
	ret_span->end = min(ret_span->end, ret_span->start + NR_PAGES * page_bytes());
	return is_found;
}

static int look(const struct span *span)
{
	unsigned char pages[NR_PAGES];
	uint64_t nr_bytes = span->end - span->start;

	/* What is no longer mapped was unmapped by a call that was not seen. */
	if (raw_mincore((void *)(uintptr_t)span->start, nr_bytes, pages))
		return 0;
	return charge_present(span->start, pages, nr_bytes / page_bytes());
}

int touched_find(uint64_t nr_bytes)
{
	uint64_t from = atomic_load_explicit(&cursor, memory_order_relaxed);
	unsigned int nr_turns = 0;
	struct span span;
	int r = 0;

	for (uint64_t nr_seen = 0; nr_seen < nr_bytes && !r; nr_seen += span.end - span.start) {
		if (!next_released(from, &span)) {
			from = 0;
			if (nr_turns++ || !next_released(from, &span))
				break;
		}
		r = look(&span);
		/* What did not fit is looked at again first. */
		from = r ? span.start : span.end;
	}
	atomic_store_explicit(&cursor, from, memory_order_relaxed);
	atomic_store_explicit(&is_over, r != 0, memory_order_relaxed);
	return r;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int touched_find_at_times(void)
{
	uint64_t now;

	if (!books_has_released())
		return 0;
	now = now_ns();
	if (!atomic_load_explicit(&is_over, memory_order_relaxed) &&
	    now - atomic_load_explicit(&last_ns, memory_order_relaxed) < PERIOD_NS)
		return 0;
	atomic_store_explicit(&last_ns, now, memory_order_relaxed);
	return touched_find(NR_BYTES_AT_ONCE);
}
