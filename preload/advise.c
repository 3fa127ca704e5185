/* SPDX-License-Identifier: MIT */
/*
 * madvise: memory given back while its addresses stay.
 *
 * Such memory can be touched again without a call. It is charged again when a call shows that it
 * will be, or when touched.c finds that it was.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "base/system.h"
#include "books.h"
#include "mappings.h"
#include "touched.h"

/*
 * What may be freed at any time is freed now: then it does not stay in memory uncharged. Of a range
 * that is not known throughout, which may hold pages of a file, the system alone knows.
 */
static int release_now(const struct books_entry *entry)
{
	bool is_known;

	if (mappings_ops.keeps_released)
		return MADV_FREE;
	books_lock();
	is_known = books_known(entry) == entry->end - entry->start;
	books_unlock();
	return is_known ? MADV_DONTNEED : MADV_FREE;
}

static int release(struct books_entry *entry, void *address, size_t nr_bytes, int advice)
{
	int r;

	if (advice == MADV_FREE)
		advice = release_now(entry);
	r = system_madvise(address, nr_bytes, advice);
	/* ENOMEM: there was a hole, and what lies around it is released. */
	if (mappings_ops.keeps_released || advice == MADV_FREE || (r && errno != ENOMEM))
		return r;
	books_lock();
	/* Without room it stays charged. */
	if (!books_room_to_turn(entry))
		books_turn(entry, SPAN_CHARGED, SPAN_RELEASED);
	books_unlock();
	return r;
}

/* Written down first: it is charged, whatever comes of it. */
static int touch(struct books_entry *entry, void *address, size_t nr_bytes, int advice)
{
	if (!books_charge_released(entry))
		return system_madvise(address, nr_bytes, advice);
	errno = ENOMEM;
	return -1;
}

static bool releases(int advice)
{
	switch (advice) {
	case MADV_DONTNEED:
	case MADV_DONTNEED_LOCKED:
	case MADV_FREE:
	case MADV_REMOVE:
		return true;
	default:
		return false;
	}
}

static bool touches(int advice)
{
	return advice == MADV_WILLNEED || advice == MADV_POPULATE_WRITE;
}

static int try_advise(void *address, size_t nr_bytes, int advice)
{
	struct books_entry entry;
	int r;

	/* Before it is released again. */
	if (nr_bytes && releases(advice))
		touched_find_at_times();
	if (!nr_bytes || !(releases(advice) || touches(advice)) ||
	    !books_open(&entry, address, nr_bytes))
		return system_madvise(address, nr_bytes, advice);
	if (releases(advice))
		r = release(&entry, address, nr_bytes, advice);
	else
		r = touch(&entry, address, nr_bytes, advice);
	books_close(&entry);
	return r;
}

int mappings_advise(void *address, size_t nr_bytes, int advice)
{
	struct charge_attempt attempt = { 0 };
	int r;

	do {
		r = try_advise(address, nr_bytes, advice);
	} while (r && books_try_again(&attempt));
	if (!r)
		books_throttle();
	return r;
}
