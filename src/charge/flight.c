/* SPDX-License-Identifier: MIT */
#include "charge/flight.h"

#include <errno.h>
#include <pthread.h>

#include "charge/above.h"
#include "charge/counter.h"
#include "charge/owner.h"
#include "charge/pause.h"

static struct flight *_Atomic flights;
static _Atomic uint32_t nr_flights;

/* Set from flight_hold() to flight_release(): uncharging waits too. */
static _Atomic bool holding;
static pthread_mutex_t hold_lock = PTHREAD_MUTEX_INITIALIZER;

/* Who has the root frozen meanwhile. */
static struct flight holder = { .row = &holder.own_row };

void flight_register(struct flight *flight)
{
	struct flight *first = atomic_load_explicit(&flights, memory_order_relaxed);
	struct flight_row *row = charge_above ? charge_above->row() : NULL;

	flight->row = row ? row : &flight->own_row;
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
	atomic_store_explicit(&flight->row->charging, counter, memory_order_seq_cst);
}

void flight_end(struct flight *flight)
{
	/* Release: who sees us landed (flight_freeze()) sees what we charged. */
	atomic_store_explicit(&flight->row->charging, 0, memory_order_release);
}

static uint32_t frozen_here(uint32_t counter)
{
	while (counter &&
	       !atomic_load_explicit(&counter_row(counter)->frozen, memory_order_seq_cst))
		counter = counter_parent(counter);
	return counter;
}

uint32_t flight_frozen_on_path(uint32_t counter)
{
	counter = frozen_here(counter);
	if (!counter && charge_above && charge_above->is_frozen())
		return ABOVE;
	return counter;
}

void flight_wait_thawed(uint32_t counter)
{
	if (counter == ABOVE) {
		charge_above->wait_thawed();
		return;
	}
	for (unsigned int round = 0;
	     atomic_load_explicit(&counter_row(counter)->frozen, memory_order_acquire); round++)
		pause_briefly(round);
}

static uint32_t publish_owner(struct flight *flight, uint32_t owner)
{
	uint32_t counter;

	/* Relaxed: a flight that is waited for again for nothing is a flight that is waited for. */
	if (unlikely(atomic_load_explicit(&flight->row->stalled, memory_order_relaxed)))
		atomic_store_explicit(&flight->row->stalled, 0, memory_order_relaxed);
	do {
		counter = owner_counter(owner);
		flight_publish(flight, counter);
		/* Again: a group is destroyed only while nobody is in flight at it. */
	} while (owner_counter(owner) != counter);
	return counter;
}

uint32_t flight_try_begin_here(struct flight *flight, uint32_t owner, uint32_t *ret_frozen)
{
	uint32_t counter = publish_owner(flight, owner);

	*ret_frozen = frozen_here(counter);
	if (!*ret_frozen)
		return counter;
	flight_end(flight);
	return 0;
}

/* Published at the counter that @owner leads to, or, with what blocks it in @ret_blocked, not. */
static uint32_t try_begin(struct flight *flight, uint32_t owner, uint32_t *ret_blocked)
{
	uint32_t counter = publish_owner(flight, owner);

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

/* In flight already, in exclusive mode, nobody above decides or recovers before we land. */
static bool frees_wait_above(const struct flight *flight)
{
	/* Relaxed: the thread's own. */
	return charge_above &&
	       !atomic_load_explicit(&flight->row->charging, memory_order_relaxed) &&
	       charge_above->frees_wait();
}

uint32_t flight_begin_uncharge(struct flight *flight, uint32_t owner)
{
	for (unsigned int round = 0;; round++) {
		uint32_t counter = owner_counter(owner);

		/* Store before the loads; partners: group_destroy() and flight_hold(). */
		atomic_store_explicit(&flight->row->uncharging, counter, memory_order_seq_cst);
		if (owner_counter(owner) == counter &&
		    !atomic_load_explicit(&counter_row(counter)->dying, memory_order_seq_cst) &&
		    !atomic_load_explicit(&holding, memory_order_seq_cst) &&
		    !frees_wait_above(flight))
			return counter;
		flight_end_uncharge(flight);
		if (charge_above)
			charge_above->wait_thawed();
		pause_briefly(round);
	}
}

void flight_end_uncharge(struct flight *flight)
{
	/* Release: who sees us done (flight_wait_uncharges()) sees what we gave back. */
	atomic_store_explicit(&flight->row->uncharging, 0, memory_order_release);
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
	for (struct flight *other = flight_first(); other; other = other->next) {
		int64_t start_ns = 0;

		for (unsigned int round = 0; other != flight; round++) {
			/* Load after the store of frozen; partner: flight_publish(). */
			uint32_t its =
				atomic_load_explicit(&other->row->charging, memory_order_seq_cst);

			if (!its || !counter_is_below(its, counter))
				break;
			if (pause_is_look(round) && pause_is_stalled(&start_ns))
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
				atomic_load_explicit(&other->row->uncharging, memory_order_seq_cst);

			if (!its || (counter && its != counter))
				break;
			pause_briefly(round);
		}
	}
}

/* In a shared tree others look at rows there: from the first fork on the holder has one. */
static void hold_above(void)
{
	struct flight_row *row;

	if (!charge_above)
		return;
	row = holder.row == &holder.own_row ? charge_above->row() : NULL;
	if (row)
		holder.row = row;
	for (;;) {
		flight_publish(&holder, ROOT_COUNTER);
		if (!charge_above->is_frozen())
			return;
		flight_end(&holder);
		charge_above->wait_thawed();
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
	hold_above();
}

void flight_hold_ready(void)
{
	flight_end(&holder);
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
	hold_above();
	counter_sub(owner_counter(owner), 0, nr_bytes);
	owner_uncharge_gone(owner, nr_bytes);
	flight_end(&holder);
}

void flight_renew_rows(void)
{
	holder.row = &holder.own_row;
	for (struct flight *flight = flight_first(); flight; flight = flight->next) {
		struct flight_row *row = charge_above ? charge_above->row() : NULL;

		flight->row = row ? row : &flight->own_row;
		atomic_store_explicit(&flight->row->charging, 0, memory_order_relaxed);
		atomic_store_explicit(&flight->row->uncharging, 0, memory_order_relaxed);
	}
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
		atomic_store_explicit(&other->row->charging, 0, memory_order_relaxed);
		atomic_store_explicit(&other->row->uncharging, 0, memory_order_relaxed);
		other->reserve_depth = 0;
		other->in_callback = 0;
		other->refusal.at = 0;
	}
}
