/* SPDX-License-Identifier: MIT */
#include "books.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/compiler.h"
#include "base/init.h"
#include "charge/owner.h"
#include "group/kind.h"
#include "kmem/again.h"
#include "kmem/heap.h"
#include "kmem/mapping.h"
#include "page.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* USELESS: there was no memory for the table, so that nothing is accounted. */
enum { UNTRIED, READY, USELESS };

/* Decided once, under the lock: with release, for the acquire of who looks without it. */
static _Atomic int table_state;

/*
 * The calling thread has the lock, or waits for it: who comes now is a signal handler. Volatile, so
 * that it is set before the lock is taken and cleared after it is given up, as the handler sees it.
 */
static thread_local_fast volatile bool is_locked;

/* Written under the lock, relaxed: who looks without it may be late. */
static _Atomic bool has_released;

uint64_t books_page_up(uint64_t nr_bytes)
{
	uint64_t mask = page_bytes() - 1;

	return (nr_bytes + mask) & ~mask;
}

void books_lock(void)
{
	is_locked = true;
	pthread_mutex_lock(&lock);
}

void books_unlock(void)
{
	atomic_store_explicit(&has_released, spans_nr_bytes(SPAN_RELEASED) != 0,
			      memory_order_relaxed);
	pthread_mutex_unlock(&lock);
	is_locked = false;
}

/* The charged spans, as the audit wants them. */
static void walk(void (*visit)(const struct mapping *mapping, void *arg), void *arg)
{
	struct span span;

	books_lock();
	for (uint64_t from = 0; spans_next(from, UINT64_MAX, &span); from = span.end)
		if (span.state == SPAN_CHARGED)
			visit(&(struct mapping){ .owner = span.owner,
						 .key = span.start,
						 .nr_bytes = span.end - span.start,
						 .kind = KIND_ANON },
			      arg);
	books_unlock();
}

static int make_table(void)
{
	int state;

	books_lock();
	state = atomic_load_explicit(&table_state, memory_order_relaxed);
	if (state == UNTRIED) {
		state = spans_init() ? USELESS : READY;
		if (state == READY)
			mapping_walk_others = walk;
		atomic_store_explicit(&table_state, state, memory_order_release);
	}
	books_unlock();
	return state;
}

static bool has_table(void)
{
	/* acquire: pairs with make_table(). */
	int state = atomic_load_explicit(&table_state, memory_order_acquire);

	return (state != UNTRIED ? state : make_table()) == READY;
}

/* relaxed: the thread alone writes them. */
static bool is_in_flight(void)
{
	const struct flight *flight = thread.heap ? &thread.heap->flight : NULL;

	return flight && flight->row &&
	       (atomic_load_explicit(&flight->row->charging, memory_order_relaxed) ||
		atomic_load_explicit(&flight->row->uncharging, memory_order_relaxed) ||
		atomic_load_explicit(&flight->freezing, memory_order_relaxed) ||
		atomic_load_explicit(&flight->repaying, memory_order_relaxed));
}

static struct umemcg *paying_group(void)
{
	struct umemcg *group = thread_group();

	return group && group_is_live(group) ? group : group_root();
}

bool books_open(struct books_entry *entry, const void *address, uint64_t nr_bytes)
{
	uint64_t start = (uintptr_t)address;
	uint64_t end = start + books_page_up(nr_bytes);

	if (!CONFIG_MEMCG || is_locked || !library_counts(1u << KIND_ANON))
		return false;
	/* What wraps around, or is no whole page, the system refuses by itself. */
	if (end < start || books_page_up(start) != start || (nr_bytes && end == start))
		return false;
	if (is_in_flight() || mapping_thread_forks() || !has_table())
		return false;
	mapping_begin();
	*entry = (struct books_entry){ .group = paying_group(), .start = start, .end = end };
	return true;
}

static void uncharge(uint32_t owner, uint64_t nr_bytes)
{
	struct flight *flight = nr_bytes ? thread_flight() : NULL;

	/* No memory for this thread's first record: what it gives back stays charged. */
	if (flight)
		owner_uncharge_kind(flight, owner, KIND_ANON, nr_bytes);
}

void books_close(struct books_entry *entry)
{
	int saved_errno = errno;

	uncharge(entry->group->owner, entry->nr_bytes);
	mapping_end();
	errno = saved_errno;
}

bool books_try_again(struct charge_attempt *attempt)
{
	int saved_errno = errno;
	bool is_again = !is_locked && thread_try_again(attempt);

	errno = saved_errno;
	return is_again;
}

void books_throttle(void)
{
	int saved_errno = errno;

	if (unlikely(charge_may_throttle()) && !is_locked)
		thread_throttle(paying_group());
	errno = saved_errno;
}

int books_charge(struct books_entry *entry, uint64_t nr_bytes)
{
	struct flight *flight = thread_flight();
	int r;

	if (!flight)
		return -ENOMEM;
	r = group_charge_kind(flight, entry->group, KIND_ANON, nr_bytes);
	if (!r)
		entry->nr_bytes += nr_bytes;
	return r;
}

int books_cover(struct books_entry *entry, uint64_t (*need)(const struct books_entry *entry))
{
	uint64_t nr_needed;
	int r = 0;

	while (!r && (nr_needed = need(entry)) > entry->nr_bytes) {
		books_unlock();
		r = books_charge(entry, nr_needed - entry->nr_bytes);
		books_lock();
	}
	return r;
}

static uint64_t sum_of(const struct books_entry *entry,
		       bool (*counts)(const struct books_entry *entry, const struct span *span))
{
	uint64_t from = entry->start;
	uint64_t nr_bytes = 0;
	struct span span;

	for (; spans_next(from, entry->end, &span); from = span.end)
		if (counts(entry, &span))
			nr_bytes += span.end - span.start;
	return nr_bytes;
}

static bool is_paid(const struct books_entry *entry, const struct span *span)
{
	return span->state == SPAN_CHARGED && span->owner == entry->group->owner;
}

static bool is_unwritten(const struct books_entry *entry, const struct span *span)
{
	(void)entry;
	return span->state == SPAN_RESERVED || span->state == SPAN_RELEASED;
}

static bool is_released(const struct books_entry *entry, const struct span *span)
{
	(void)entry;
	return span->state == SPAN_RELEASED;
}

static bool is_known(const struct books_entry *entry, const struct span *span)
{
	(void)entry;
	return span->state != SPAN_NONE;
}

uint64_t books_new(const struct books_entry *entry)
{
	return entry->end - entry->start - sum_of(entry, is_paid);
}

uint64_t books_unwritten(const struct books_entry *entry)
{
	return sum_of(entry, is_unwritten);
}

uint64_t books_released(const struct books_entry *entry)
{
	return sum_of(entry, is_released);
}

uint64_t books_known(const struct books_entry *entry)
{
	return sum_of(entry, is_known);
}

uint64_t books_nothing(const struct books_entry *entry)
{
	(void)entry;
	return 0;
}

/* What was charged ahead pays for the new, as far as the same group has not paid for the old. */
void books_replace(struct books_entry *entry, uint64_t start, uint64_t end, enum span_state state)
{
	bool is_charged = state == SPAN_CHARGED;
	uint64_t nr_new = is_charged ? end - start : 0;
	struct span span;

	for (uint64_t from = start; spans_next(from, end, &span); from = span.end) {
		if (is_charged && is_paid(entry, &span))
			nr_new -= span.end - span.start;
		else if (span.state == SPAN_CHARGED)
			uncharge(span.owner, span.end - span.start);
	}
	entry->nr_bytes -= nr_new;
	spans_set(start, end, state, is_charged ? entry->group->owner : 0);
}

int books_room_to_turn(const struct books_entry *entry)
{
	uint64_t address = entry->start;
	uint64_t nr_found = 0;
	struct span span;

	for (; spans_next(address, entry->end, &span); address = span.end)
		nr_found++;
	return spans_make_room(nr_found);
}

void books_turn(struct books_entry *entry, enum span_state from, enum span_state to)
{
	struct span span;

	for (uint64_t address = entry->start; spans_next(address, entry->end, &span);
	     address = span.end)
		if (span.state == from)
			books_replace(entry, span.start, span.end, to);
}

int books_charge_released(struct books_entry *entry)
{
	int r;

	books_lock();
	r = books_cover(entry, books_released);
	if (!r)
		r = books_room_to_turn(entry);
	if (!r)
		books_turn(entry, SPAN_RELEASED, SPAN_CHARGED);
	books_unlock();
	return r;
}

bool books_has_released(void)
{
	return atomic_load_explicit(&has_released, memory_order_relaxed);
}

uint64_t books_nr_bytes(enum span_state state)
{
	uint64_t nr_bytes;

	books_lock();
	nr_bytes = spans_nr_bytes(state);
	books_unlock();
	return nr_bytes;
}
