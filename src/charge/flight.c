/* SPDX-License-Identifier: MIT */
#include "charge/flight.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "charge/counter.h"
#include "charge/owner.h"

/* How long a freeze waits for a thread in flight before it takes it for stopped. */
#define STALL_NS 1000000000ll

static struct flight *_Atomic flights;
static _Atomic uint32_t nr_flights;

/* Set from flight_hold() to flight_release(): uncharging waits too. */
static _Atomic bool holding;
static pthread_mutex_t hold_lock = PTHREAD_MUTEX_INITIALIZER;

/* Who has the root frozen meanwhile. */
static struct flight holder;

void flight_register(struct flight *flight)
{
	struct flight *first = atomic_load_explicit(&flights, memory_order_relaxed);

	do {
		flight->next = first;
		/* Release pairs with the acquire in flight_first(); seq_cst orders it before
		 * the new thread's first flight for a freeze that walks the list. */
	} while (!atomic_compare_exchange_weak_explicit(
		&flights, &first, flight, memory_order_seq_cst, memory_order_relaxed));
	atomic_fetch_add_explicit(&nr_flights, 1, memory_order_relaxed);
}

struct flight *flight_first(void)
{
	return atomic_load_explicit(&flights, memory_order_seq_cst);
}

uint32_t flight_nr(void)
{
	return atomic_load_explicit(&nr_flights, memory_order_relaxed);
}

void flight_publish(struct flight *flight, uint32_t counter)
{
	/* Store before the loads of the frozen words; partner: flight_freeze(). */
	atomic_store_explicit(&flight->charging, counter, memory_order_seq_cst);
}

void flight_end(struct flight *flight)
{
	/* Release: who sees us landed (flight_freeze()) sees what we charged. */
	atomic_store_explicit(&flight->charging, 0, memory_order_release);
}

uint32_t flight_frozen_on_path(uint32_t counter)
{
	while (counter &&
	       !atomic_load_explicit(&counter_row(counter)->frozen, memory_order_seq_cst))
		counter = counter_parent(counter);
	return counter;
}

void flight_wait_thawed(uint32_t counter)
{
	for (unsigned int round = 0;
	     atomic_load_explicit(&counter_row(counter)->frozen, memory_order_acquire); round++)
		pause_briefly(round);
}

/* Published at the counter that @owner leads to, or, with what blocks it in @ret_blocked, not. */
static uint32_t try_begin(struct flight *flight, uint32_t owner, uint32_t *ret_blocked)
{
	uint32_t counter;

	do {
		counter = owner_counter(owner);
		flight_publish(flight, counter);
		/* Again: a group is destroyed only while nobody is in flight at it. */
	} while (owner_counter(owner) != counter);
	*ret_blocked = flight_frozen_on_path(counter);
	if (!*ret_blocked)
		return counter;
	flight_end(flight);
	return 0;
}

uint32_t flight_try_begin(struct flight *flight, uint32_t owner)
{
	uint32_t blocked;

	return try_begin(flight, owner, &blocked);
}

uint32_t flight_begin(struct flight *flight, uint32_t owner)
{
	uint32_t counter, blocked;

	while (!(counter = try_begin(flight, owner, &blocked)))
		flight_wait_thawed(blocked);
	return counter;
}

uint32_t flight_begin_uncharge(struct flight *flight, uint32_t owner)
{
	for (unsigned int round = 0;; round++) {
		uint32_t counter = owner_counter(owner);

		/* Store before the loads; partners: group_destroy() and flight_hold(). */
		atomic_store_explicit(&flight->uncharging, counter, memory_order_seq_cst);
		if (owner_counter(owner) == counter &&
		    !atomic_load_explicit(&counter_row(counter)->dying, memory_order_seq_cst) &&
		    !atomic_load_explicit(&holding, memory_order_seq_cst))
			return counter;
		flight_end_uncharge(flight);
		pause_briefly(round);
	}
}

void flight_end_uncharge(struct flight *flight)
{
	/* Release: who sees us done (flight_wait_uncharges()) sees what we gave back. */
	atomic_store_explicit(&flight->uncharging, 0, memory_order_release);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* The deadline is looked at only when the wait has become long. */
static bool stalled(unsigned int round, int64_t *start_ns)
{
	if (round < 1024)
		return false;
	if (round == 1024)
		*start_ns = now_ns();
	return now_ns() - *start_ns > STALL_NS;
}

static void freeze(struct flight *flight, uint32_t counter)
{
	struct counter *row = counter_row(counter);
	uint32_t thawed = 0;

	/* Before it is frozen: a fork child thaws what the threads that it has lost had frozen. */
	atomic_store_explicit(&flight->freezing, counter, memory_order_relaxed);
	for (unsigned int round = 0; !atomic_compare_exchange_weak_explicit(
		     &row->frozen, &thawed, 1, memory_order_seq_cst, memory_order_relaxed);
	     round++) {
		thawed = 0;
		pause_briefly(round);
	}
}

/* Until no other thread is in flight at or below a frozen counter; -ETIME if one stays there. */
static int wait_until_landed(const struct flight *flight, uint32_t counter)
{
	int64_t start_ns = 0;

	for (struct flight *other = flight_first(); other; other = other->next) {
		for (unsigned int round = 0; other != flight; round++) {
			/* Load after the store of frozen; partner: flight_publish(). */
			uint32_t its = atomic_load_explicit(&other->charging, memory_order_seq_cst);

			if (!its || !counter_is_below(its, counter))
				break;
			if (stalled(round, &start_ns))
				return -ETIME;
			pause_briefly(round);
		}
	}
	return 0;
}

int flight_freeze(struct flight *flight, uint32_t counter)
{
	int r;

	freeze(flight, counter);
	r = wait_until_landed(flight, counter);
	if (r)
		flight_thaw(flight, counter);
	return r;
}

void flight_thaw(struct flight *flight, uint32_t counter)
{
	/* Release: who goes on (flight_wait_thawed()) sees what was decided. */
	atomic_store_explicit(&counter_row(counter)->frozen, 0, memory_order_release);
	atomic_store_explicit(&flight->freezing, 0, memory_order_relaxed);
}

void flight_wait_uncharges(uint32_t counter)
{
	for (struct flight *other = flight_first(); other; other = other->next) {
		for (unsigned int round = 0;; round++) {
			uint32_t its =
				atomic_load_explicit(&other->uncharging, memory_order_seq_cst);

			if (!its || (counter && its != counter))
				break;
			pause_briefly(round);
		}
	}
}

void flight_hold(void)
{
	pthread_mutex_lock(&hold_lock);
	freeze(&holder, ROOT_COUNTER);
	/* A thread that is stopped in flight is lost to the child in any case: go on. */
	wait_until_landed(&holder, ROOT_COUNTER);
	atomic_store_explicit(&holding, true, memory_order_seq_cst);
	flight_wait_uncharges(0);
}

void flight_release(void)
{
	atomic_store_explicit(&holding, false, memory_order_release);
	flight_thaw(&holder, ROOT_COUNTER);
	pthread_mutex_unlock(&hold_lock);
}

/* Whatever the thread has given back is in the child, too, but it did not come to say so. */
static void repay_for(struct flight *other)
{
	uint32_t owner = atomic_load_explicit(&other->repaying, memory_order_acquire);
	uint64_t nr_bytes = atomic_load_explicit(&other->nr_repaid, memory_order_relaxed);

	if (!owner)
		return;
	atomic_store_explicit(&other->repaying, 0, memory_order_relaxed);
	counter_sub(owner_counter(owner), 0, nr_bytes);
	owner_uncharge_gone(owner, nr_bytes);
}

void flight_forget_others(const struct flight *mine)
{
	for (struct flight *other = flight_first(); other; other = other->next) {
		uint32_t frozen = atomic_load_explicit(&other->freezing, memory_order_relaxed);

		if (other == mine)
			continue;
		repay_for(other);
		/* The root is frozen for the fork itself, and thawed with it. */
		if (frozen && frozen != ROOT_COUNTER)
			flight_thaw(other, frozen);
		atomic_store_explicit(&other->charging, 0, memory_order_relaxed);
		atomic_store_explicit(&other->uncharging, 0, memory_order_relaxed);
		other->reserve_depth = 0;
	}
}
