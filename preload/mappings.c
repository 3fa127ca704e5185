/* SPDX-License-Identifier: MIT */
#include "mappings.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "base/system.h"
#include "books.h"
#include "charge/counter.h"
#include "charge/owner.h"
#include "raw.h"
#include "touched.h"

struct mappings_ops mappings_ops;

static void *refuse(void)
{
	errno = ENOMEM;
	return MAP_FAILED;
}

/* relaxed: a limit that is being changed may be seen late. */
static uint64_t limit_of(const struct umemcg *group)
{
	uint64_t lowest = mappings_ops.limit ? mappings_ops.limit() : UINT64_MAX;

	for (uint32_t id = owner_counter(group->owner); id; id = counter_parent(id))
		lowest = min(lowest,
			     atomic_load_explicit(&counter_row(id)->max, memory_order_relaxed));
	return lowest;
}

/* What a new mapping is, for the books. */
static enum span_state state_of(const struct books_entry *entry, int protection, int flags)
{
	if (!(flags & MAP_ANONYMOUS) || (flags & MAP_TYPE) != MAP_PRIVATE || (flags & MAP_HUGETLB))
		return SPAN_NONE;
	if (!(protection & PROT_WRITE))
		return SPAN_RESERVED;
	if ((flags & MAP_NORESERVE) && entry->end - entry->start > limit_of(entry->group))
		return SPAN_UNCOUNTED;
	return SPAN_CHARGED;
}

/* Where the system likes. Nobody else knows the addresses before they are written down. */
static void *map_anywhere(struct books_entry *entry, enum span_state state, void *address,
			  int protection, int flags, int fd, off_t offset)
{
	uint64_t nr_bytes = entry->end - entry->start;
	bool is_written = true;

	if (state == SPAN_CHARGED && books_charge(entry, nr_bytes))
		return refuse();
	address = system_mmap(address, nr_bytes, protection, flags, fd, offset);
	if (address == MAP_FAILED)
		return MAP_FAILED;
	entry->start = (uintptr_t)address;
	entry->end = entry->start + nr_bytes;
	books_lock();
	/* Something is there only if its end was not seen. */
	if (state != SPAN_NONE || books_known(entry)) {
		is_written = !spans_make_room(1);
		if (is_written)
			books_replace(entry, entry->start, entry->end, state);
	}
	books_unlock();
	if (is_written || state == SPAN_NONE)
		return address;
	system_munmap(address, nr_bytes);
	return refuse();
}

/* Over whatever is there: only the difference is charged. */
static void *map_over(struct books_entry *entry, enum span_state state, int protection, int flags,
		      int fd, off_t offset)
{
	void *address = MAP_FAILED;

	books_lock();
	if (books_cover(entry, state == SPAN_CHARGED ? books_new : books_nothing) ||
	    spans_make_room(1)) {
		refuse();
	} else {
		address = system_mmap((void *)(uintptr_t)entry->start, entry->end - entry->start,
				      protection, flags, fd, offset);
		if (address != MAP_FAILED)
			books_replace(entry, entry->start, entry->end, state);
	}
	books_unlock();
	return address;
}

static void *try_map(void *address, size_t nr_bytes, int protection, int flags, int fd,
		     off_t offset)
{
	bool is_over = (flags & MAP_FIXED) && !(flags & MAP_FIXED_NOREPLACE);
	enum span_state state;
	struct books_entry entry;
	void *result;

	/* A place that is only wished for may be anything. */
	if (!nr_bytes || !books_open(&entry, is_over ? address : NULL, nr_bytes))
		return system_mmap(address, nr_bytes, protection, flags, fd, offset);
	state = state_of(&entry, protection, flags);
	if (state == SPAN_CHARGED && touched_find_at_times())
		result = refuse();
	else if (is_over)
		result = map_over(&entry, state, protection, flags, fd, offset);
	else
		result = map_anywhere(&entry, state, address, protection, flags, fd, offset);
	books_close(&entry);
	if (state == SPAN_UNCOUNTED && result != MAP_FAILED && mappings_ops.passed)
		mappings_ops.passed(nr_bytes);
	return result;
}

void *mappings_map(void *address, size_t nr_bytes, int protection, int flags, int fd, off_t offset)
{
	struct charge_attempt attempt = { 0 };
	void *result;

	do {
		result = try_map(address, nr_bytes, protection, flags, fd, offset);
	} while (result == MAP_FAILED && books_try_again(&attempt));
	if (result != MAP_FAILED)
		books_throttle();
	return result;
}

int mappings_unmap(void *address, size_t nr_bytes)
{
	struct books_entry entry;
	int r;

	if (!nr_bytes || !books_open(&entry, address, nr_bytes))
		return system_munmap(address, nr_bytes);
	books_lock();
	if (spans_make_room(1)) {
		errno = ENOMEM;
		r = -1;
	} else {
		r = system_munmap(address, nr_bytes);
		if (!r)
			books_replace(&entry, entry.start, entry.end, SPAN_NONE);
	}
	books_unlock();
	books_close(&entry);
	return r;
}

static int protect(void *address, size_t nr_bytes, int protection, int key)
{
	if (key == MAPPINGS_NO_KEY)
		return system_mprotect(address, nr_bytes, protection);
	return raw_pkey_mprotect(address, nr_bytes, protection, key);
}

/* Nothing more is admitted while there is memory that could not be charged. */
static bool is_refused(const struct books_entry *entry)
{
	uint64_t nr_needed;

	if (!books_has_released())
		return false;
	books_lock();
	nr_needed = books_unwritten(entry);
	books_unlock();
	return nr_needed && touched_find_at_times();
}

static int try_protect(void *address, size_t nr_bytes, int protection, int key)
{
	bool is_writable = protection & PROT_WRITE;
	bool is_full;
	struct books_entry entry;
	int r = -1;

	if (!nr_bytes || !books_open(&entry, address, nr_bytes))
		return protect(address, nr_bytes, protection, key);
	is_full = is_writable && is_refused(&entry);
	books_lock();
	if (is_full || books_cover(&entry, is_writable ? books_unwritten : books_nothing) ||
	    books_room_to_turn(&entry))
		errno = ENOMEM;
	else
		r = protect(address, nr_bytes, protection, key);
	if (!r && is_writable)
		books_turn(&entry, SPAN_RESERVED, SPAN_CHARGED);
	if (!r)
		books_turn(&entry, SPAN_RELEASED, is_writable ? SPAN_CHARGED : SPAN_RESERVED);
	books_unlock();
	books_close(&entry);
	return r;
}

int mappings_protect(void *address, size_t nr_bytes, int protection, int key)
{
	struct charge_attempt attempt = { 0 };
	int r;

	do {
		r = try_protect(address, nr_bytes, protection, key);
	} while (r && books_try_again(&attempt));
	if (!r)
		books_throttle();
	return r;
}
