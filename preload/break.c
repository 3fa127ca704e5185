/* SPDX-License-Identifier: MIT */
/* The program's break: below it lies a mapping that only grows and shrinks at its end. */
#include <errno.h>
#include <stdbool.h>

#include "books.h"
#include "mappings.h"
#include "raw.h"

/* Where libc keeps the break, for its own sbrk(). */
extern void *__curbrk __attribute__((weak));

static uint64_t set(uint64_t address)
{
	uint64_t now = raw_brk(address);

	if (&__curbrk)
		__curbrk = (void *)(uintptr_t)now;
	return now;
}

/* A move of the break that is not accounted. */
static uint64_t move_alone(bool is_relative, uint64_t to)
{
	return is_relative ? set(raw_brk(0) + to) : set(to);
}

static uint64_t grown(const struct books_entry *entry)
{
	return entry->end > entry->start ? books_new(entry) : 0;
}

/*
 * Where the break would move, as whole pages from the old to the new one. Another thread may move
 * it while this one charges: then it begins again.
 *
 * Return: the new break; the old one if it was refused.
 */
static uint64_t move(struct books_entry *entry, bool is_relative, uint64_t to, uint64_t *ret_old)
{
	uint64_t old, target, now;

	do {
		old = raw_brk(0);
		target = is_relative ? old + to : to;
		entry->start = books_page_up(old);
		entry->end = books_page_up(target);
		if (books_cover(entry, grown) || spans_make_room(1)) {
			*ret_old = old;
			return old;
		}
	} while (raw_brk(0) != old);
	*ret_old = old;
	now = set(target);
	if (now != target)
		return now;
	if (target > old)
		books_replace(entry, entry->start, entry->end, SPAN_CHARGED);
	else
		books_replace(entry, entry->end, entry->start, SPAN_NONE);
	return now;
}

/* Return: was it moved where it was to go? */
static bool try_move(bool is_relative, uint64_t to, uint64_t *ret_old)
{
	struct books_entry entry;
	uint64_t now;

	if (!books_open(&entry, NULL, 0)) {
		*ret_old = raw_brk(0);
		now = move_alone(is_relative, to);
	} else {
		books_lock();
		now = move(&entry, is_relative, to, ret_old);
		books_unlock();
		books_close(&entry);
	}
	if (now == (is_relative ? *ret_old + to : to))
		return true;
	errno = ENOMEM;
	return false;
}

static bool move_accounted(bool is_relative, uint64_t to, uint64_t *ret_old)
{
	struct charge_attempt attempt = { 0 };
	bool is_moved;

	do {
		is_moved = try_move(is_relative, to, ret_old);
	} while (!is_moved && books_try_again(&attempt));
	if (is_moved)
		books_throttle();
	return is_moved;
}

int mappings_set_break(void *address)
{
	uint64_t old;

	return move_accounted(false, (uintptr_t)address, &old) ? 0 : -1;
}

void *mappings_move_break(intptr_t nr_bytes)
{
	uint64_t old;

	if (!move_accounted(true, (uint64_t)nr_bytes, &old))
		return (void *)-1;
	return (void *)(uintptr_t)old;
}
