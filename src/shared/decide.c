/* SPDX-License-Identifier: MIT */
#include "shared/decide.h"

#include <errno.h>

#include "charge/pause.h"
#include "shared/climb.h"
#include "shared/collect.h"
#include "shared/event.h"
#include "shared/recovery.h"
#include "shared/ring.h"
#include "shared/slot.h"
#include "shared/thread.h"
#include "shared/tracer.h"
#include "shared/tree.h"

/* A round of pause_briefly() that sleeps, for 50 us and more; so many make some 50 ms. */
#define ROUNDS_SLEPT     1024u
#define ROUNDS_OF_OTHERS 1000u

/* The caller holds the segment's lock, so a process has one holder at a time. */
static void freeze(struct segment *segment, struct shared_group *group)
{
	uint32_t thawed = 0;

	/* seq_cst: before the loads of flights; partner: climb_is_frozen(). */
	for (unsigned int round = 0; !atomic_compare_exchange_strong_explicit(
		     &group->counter.frozen, &thawed, segment->process, memory_order_seq_cst,
		     memory_order_relaxed);
	     round++) {
		if (thawed && pause_is_look(round)) {
			/* Recovering takes the lock itself. */
			pthread_mutex_unlock(&segment->lock);
			recovery_of_holder(segment, thawed);
			pthread_mutex_lock(&segment->lock);
		}
		thawed = 0;
		pause_briefly(round);
	}
}

static void thaw(struct shared_group *group)
{
	/* release: who goes on sees what was decided. */
	atomic_store_explicit(&group->counter.frozen, 0, memory_order_release);
}

static struct flight_row *flight_of(const struct segment *segment, const struct decider *decider)
{
	return &segment_thread(segment, decider->thread)->flight;
}

static bool take_off(const struct segment *segment, const struct decider *decider, uint32_t at)
{
	if (decider->ops)
		return decider->ops->take_off(decider->arg);
	thread_take_off(flight_of(segment, decider), at);
	return true;
}

static void land(const struct segment *segment, const struct decider *decider)
{
	if (decider->ops)
		decider->ops->land(decider->arg);
	else
		thread_land(flight_of(segment, decider));
}

static uint32_t try_charge(struct segment *segment, const struct decider *decider,
			   uint64_t nr_bytes)
{
	return decider->ops ? decider->ops->try_charge(decider->arg, nr_bytes)
			    : climb_try_add(segment, decider->process, nr_bytes, false);
}

/*
 * As charge_stop_below(), and with the same order: published only once nobody else is in flight
 * below, and before anything is decided. Keeps the segment's lock.
 */
static bool stop_below(struct segment *segment, uint32_t row, const struct decider *decider)
{
	struct shared_group *group = segment_group(segment, row);

	for (;;) {
		bool all_landed, took_off;
		uint32_t parent;

		pthread_mutex_lock(&segment->lock);
		freeze(segment, group);
		all_landed = !thread_wait_landed(segment, row, decider->thread);
		took_off = take_off(segment, decider, row);
		parent = atomic_load_explicit(&group->counter.parent, memory_order_relaxed);
		if (took_off && !climb_is_frozen(segment, parent)) {
			if (decider->ops)
				decider->ops->drain(decider->arg);
			return collect_below(segment, row, decider->process) && all_landed;
		}
		if (took_off)
			land(segment, decider);
		thaw(group);
		pthread_mutex_unlock(&segment->lock);
		climb_wait_thawed(segment, parent);
		if (decider->ops)
			decider->ops->wait(decider->arg);
	}
}

static void go_on(struct segment *segment, uint32_t row, const struct decider *decider)
{
	land(segment, decider);
	thaw(segment_group(segment, row));
	pthread_mutex_unlock(&segment->lock);
}

static uint64_t nr_recoveries(const struct segment *segment)
{
	return atomic_load_explicit(&segment->header->nr_recoveries, memory_order_seq_cst);
}

/* Who waits for reports in the tree is asked to recover it, and gets a moment: true if it did. */
static bool others_recover(struct segment *segment, uint32_t row, uint64_t nr_recoveries_before)
{
	for (unsigned int round = 0; round < ROUNDS_OF_OTHERS; round++) {
		if (nr_recoveries(segment) != nr_recoveries_before)
			return true;
		if (!recovery_is_due(segment, row))
			return false;
		if (!round)
			ring_wake(segment);
		pause_briefly(ROUNDS_SLEPT);
	}
	return false;
}

/* Nobody that lives holds anything else up: true. False: something was given back, try again. */
static bool is_certain(struct segment *segment, uint32_t row, uint64_t nr_recoveries_before)
{
	if (tracer_is_inside(segment))
		return !others_recover(segment, row, nr_recoveries_before);
	if (recovery_is_due(segment, row) && !recovery_run(segment, true))
		return false;
	return nr_recoveries(segment) == nr_recoveries_before;
}

bool decide_is_certain(struct segment *segment, uint32_t at)
{
	return is_certain(segment, at & ~ABOVE, nr_recoveries(segment));
}

/*
 * Of a traced process: as exact as may be without freezing anybody. What others' stocks hold is not
 * asked for, so it may be refused early by that much. 0, or the level that is full.
 */
static uint32_t charge_unfrozen(struct segment *segment, const struct decider *decider,
				uint64_t nr_bytes, uint32_t row)
{
	for (;;) {
		bool took_off = take_off(segment, decider, row);
		bool is_free = took_off && !climb_is_frozen(segment, row);
		uint32_t full = 0;

		if (is_free)
			full = try_charge(segment, decider, nr_bytes);
		if (took_off)
			land(segment, decider);
		if (is_free)
			return full;
		climb_wait_thawed(segment, row);
		if (decider->ops)
			decider->ops->wait(decider->arg);
	}
}

static uint32_t charge_frozen(struct segment *segment, const struct decider *decider,
			      uint64_t nr_bytes, uint32_t row)
{
	struct shared_group *group = segment_group(segment, row);
	bool all_landed = stop_below(segment, row, decider);
	uint64_t nr_uncharges;
	uint32_t full;

	if (!all_landed)
		event_count(segment, row, SHARED_EVENT_STALLED);
	/* Read before the add that fails. */
	nr_uncharges = atomic_load_explicit(&group->counter.nr_uncharges, memory_order_seq_cst);
	full = try_charge(segment, decider, nr_bytes);
	if (full == (row | ABOVE) && all_landed)
		climb_remember_refusal(segment, decider->process, row, nr_bytes, nr_uncharges);
	go_on(segment, row, decider);
	return full;
}

int decide(struct segment *segment, const struct decider *decider, uint64_t nr_bytes, uint32_t at,
	   uint32_t *ret_at)
{
	for (;;) {
		uint32_t row = at & ~ABOVE, full;
		/* Read before the add that fails. */
		uint64_t nr_before = nr_recoveries(segment);

		if (!segment_group(segment, row))
			break;
		if (tracer_is_inside(segment))
			full = charge_unfrozen(segment, decider, nr_bytes, row);
		else
			full = charge_frozen(segment, decider, nr_bytes, row);
		if (!full)
			return 0;
		if (full & ABOVE && !tree_is_below(segment, full & ~ABOVE, row)) {
			at = full;
			continue;
		}
		at = full;
		if (!(full & ABOVE) || is_certain(segment, full & ~ABOVE, nr_before))
			break;
	}
	*ret_at = at;
	return -ENOMEM;
}

/* A mapping itself charges nothing, but others are not to decide above it meanwhile. */
static int init_own(struct segment *segment, struct decider *ret_decider)
{
	if (!segment->thread)
		segment->thread = thread_claim(segment, segment->process);
	if (!segment->thread)
		return -ENOSPC;
	*ret_decider = (struct decider){ .process = segment->process, .thread = segment->thread };
	return 0;
}

int decide_set_max(struct segment *segment, uint32_t row, uint64_t max)
{
	struct shared_group *group = segment_group(segment, row);
	struct decider decider;
	uint64_t usage;
	int r = init_own(segment, &decider);

	if (r)
		return r;
	if (!stop_below(segment, row, &decider)) {
		go_on(segment, row, &decider);
		return -ETIME;
	}
	atomic_store_explicit(&group->counter.max, max, memory_order_seq_cst);
	counter_more_may_fit(&group->counter);
	usage = atomic_load_explicit(&group->counter.usage, memory_order_seq_cst);
	go_on(segment, row, &decider);
	return usage > max ? -EBUSY : 0;
}

int decide_set_reserve(struct segment *segment, uint32_t row, uint64_t nr_bytes)
{
	struct shared_group *group = segment_group(segment, row);

	atomic_store_explicit(&group->reserve, nr_bytes, memory_order_seq_cst);
	counter_more_may_fit(&group->counter);
	return 0;
}
