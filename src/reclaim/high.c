/* SPDX-License-Identifier: MIT */
#include "reclaim/high.h"

#include <errno.h>

#include "base/compiler.h"
#include "base/system.h"
#include "charge/above.h"
#include "charge/charge.h"
#include "charge/overage.h"
#include "group/event.h"
#include "reclaim/callback.h"
#include "reclaim/delay.h"
#include "reclaim/limit.h"
#include "reclaim/pressure.h"
#include "reclaim/reclaim.h"

#define NS_PER_US 1000ull

/* Shorter waits are left to add up: the system could not keep them. */
#define DELAY_MIN_US 1000u

/* In an allocation a thread is not asked to reclaim and wait for less than it charges at once. */
#define ALLOCATION_MIN_BYTES ((uint64_t)64 << 10)

/* Between two looks at whether usage has fallen. */
#define SLICE_NS 20000000ull

static uint64_t max_overage(const struct umemcg *group)
{
	uint64_t overage = 0;

	for (; group; group = group_parent(group)) {
		uint64_t high, nr_bytes = overage_here(group->id, &high);

		if (nr_bytes)
			overage = max(overage, delay_overage(nr_bytes, high));
	}
	return overage;
}

/*
 * What each level has above its high. Callbacks may destroy any group, also those of the path, so
 * the path is looked up anew for each round: the level that is next is one further up.
 */
static void reclaim_path(struct flight *flight, uint32_t owner)
{
	uint64_t deadline_ns = limit_deadline();
	unsigned int nr_done = 0;

	for (;;) {
		struct umemcg *group = group_of_owner(owner);
		uint64_t high, nr_bytes;

		for (unsigned int i = 0; i < nr_done && group; i++)
			group = group_parent(group);
		if (!group)
			break;
		nr_done++;
		nr_bytes = overage_here(group->id, &high);
		if (!nr_bytes)
			continue;
		group_event_if_live(group, UMEMCG_EVENT_HIGH);
		if (!reclaim_may(flight))
			continue;
		pressure_begin(owner);
		reclaim(flight, group, nr_bytes, deadline_ns);
		pressure_end(owner);
	}
}

/* Waits end when this changes on the path. A path that itself changes ends them, too. */
static uint32_t nr_cancels(const struct umemcg *group)
{
	uint32_t nr = 0;

	/* Acquire pairs with high_cancel(), and with the destruction of a group. */
	for (; group; group = group_parent(group))
		nr += atomic_load_explicit(&group->nr_cancels, memory_order_acquire);
	return nr;
}

/* The group may be destroyed meanwhile, if it is not that which the thread is in. */
static uint64_t wait_ns(const struct umemcg *group, uint32_t cancels, uint64_t delay_ns)
{
	uint64_t start_ns = system_now_ns(), waited_ns = 0;

	while (waited_ns < delay_ns) {
		/* Before the looks: what changes after them ends the wait. */
		uint32_t changes = overage_changes();

		if (nr_cancels(group) != cancels || !overage_is_on_path(group->id))
			break;
		if (!overage_wait(changes, min(delay_ns - waited_ns, SLICE_NS)))
			delay_ns = 0;
		pressure_look();
		waited_ns = system_now_ns() - start_ns;
	}
	return waited_ns;
}

/* What the thread is to wait, for what it has charged above high until now. */
static uint64_t take_delay_us(struct flight *flight, const struct umemcg *group)
{
	uint64_t overage = max_overage(group);
	uint64_t us = delay_us(overage, flight->nr_over_high);

	if (overage && us < DELAY_MIN_US)
		return 0;
	flight->nr_over_high = 0;
	return us;
}

static uint64_t throttle(struct flight *flight, struct umemcg *group, bool in_allocation)
{
	uint32_t owner = group->owner;
	uint64_t us, waited_ns;
	uint32_t cancels;

	if (!overage_is_possible() || !callback_may_begin(flight) ||
	    (in_allocation && flight->nr_over_high < ALLOCATION_MIN_BYTES))
		return 0;
	/* First: what ends the waits while it reclaims ends its own, too. */
	cancels = nr_cancels(group);
	if (max_overage(group)) {
		reclaim_path(flight, owner);
		if (group_of_owner(owner) != group) {
			flight->nr_over_high = 0;
			return 0;
		}
	}
	us = take_delay_us(flight, group);
	if (!us)
		return 0;
	pressure_begin(owner);
	waited_ns = wait_ns(group, cancels, us * NS_PER_US);
	pressure_end(owner);
	return waited_ns / NS_PER_US;
}

/* The groups of a shared tree are all above those of the process. */
uint64_t high_throttle(struct flight *flight, struct umemcg *group, bool in_allocation)
{
	/* Callbacks of the program's may change it. */
	int saved_errno = errno;
	uint64_t us = throttle(flight, group, in_allocation);

	if (charge_above)
		us += charge_above->throttle(flight, in_allocation);
	errno = saved_errno;
	return us;
}

static void throttle_allocation(struct flight *flight, uint32_t owner)
{
	high_throttle(flight, group_of_owner(owner), true);
}

void high_throttle_allocations(void)
{
	charge_ops.throttle = throttle_allocation;
	/* Relaxed: nobody charges yet, or is let through once. */
	atomic_store_explicit(&charge_throttles, true, memory_order_relaxed);
}

void high_cancel(struct umemcg *group)
{
	/* Release pairs with nr_cancels(). */
	atomic_fetch_add_explicit(&group->nr_cancels, 1, memory_order_release);
	overage_wake();
}
