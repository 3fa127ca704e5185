/* SPDX-License-Identifier: MIT */
#include "shared/throttle.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/system.h"
#include "reclaim/delay.h"
#include "shared/climb.h"
#include "shared/event.h"
#include "shared/stall.h"

/* How long usage may have fallen below high before it is seen. */
#define SLICE_NS 10000000ll

/* Shorter waits are left to add up. */
#define DELAY_MIN_US 1000u

/* relaxed: settings and sums that change all the time. */
static uint64_t overage_at(const struct shared_group *group)
{
	uint64_t usage = atomic_load_explicit(&group->counter.usage, memory_order_relaxed);
	uint64_t high = atomic_load_explicit(&group->high, memory_order_relaxed);

	return usage > high ? delay_overage(usage - high, high) : 0;
}

/* As in the kernel the delays do not add up: the group that is furthest above tells. 0: none. */
static uint32_t furthest(const struct segment *segment, uint32_t process, uint64_t *ret_overage)
{
	uint32_t row = climb_group(segment, process), found = 0;
	struct shared_group *group = segment_group(segment, row);

	*ret_overage = 0;
	for (unsigned int level = 0; group && level <= SEGMENT_MAX_DEPTH; level++) {
		uint64_t here = overage_at(group);

		if (here > *ret_overage) {
			*ret_overage = here;
			found = row;
		}
		row = atomic_load_explicit(&group->counter.parent, memory_order_relaxed);
		group = segment_group(segment, row);
	}
	return found;
}

uint32_t throttle_group_above(const struct segment *segment, uint32_t process)
{
	uint64_t overage;

	return furthest(segment, process, &overage);
}

static void sleep_on(struct shared_group *group, uint32_t seen, int64_t left_ns)
{
	int64_t ns = left_ns < SLICE_NS ? left_ns : SLICE_NS;

	/* The system call itself is no cancellation point. */
	syscall(SYS_futex, &group->high_futex, FUTEX_WAIT, seen,
		&(struct timespec){ .tv_nsec = ns }, NULL, 0);
}

static void wait_below(struct segment *segment, uint32_t process, int64_t deadline_ns)
{
	int64_t left_ns;

	while ((left_ns = deadline_ns - (int64_t)system_now_ns()) > 0) {
		uint32_t row = throttle_group_above(segment, process);
		struct shared_group *group = segment_group(segment, row);
		uint32_t seen;

		if (!group)
			return;
		/* acquire: pairs with throttle_high_changed(), of which the high is seen then. */
		seen = atomic_load_explicit(&group->high_futex, memory_order_acquire);
		if (throttle_group_above(segment, process) == row)
			sleep_on(group, seen, left_ns);
	}
}

uint64_t throttle_wait(struct segment *segment, uint32_t process, uint32_t thread,
		       uint64_t nr_bytes)
{
	int saved_errno = errno;
	uint64_t overage, nr_us;
	uint32_t row = furthest(segment, process, &overage);
	bool stalls;

	if (!row)
		return 0;
	event_count(segment, row, SHARED_EVENT_HIGH);
	nr_us = delay_us(overage, nr_bytes);
	if (nr_us < DELAY_MIN_US)
		return 0;
	stalls = stall_begin(segment, thread);
	wait_below(segment, process, (int64_t)(system_now_ns() + nr_us * 1000));
	if (stalls)
		stall_end(segment, thread);
	errno = saved_errno;
	return nr_us;
}

void throttle_high_changed(struct segment *segment, uint32_t group)
{
	struct shared_group *row = segment_group(segment, group);
	int saved_errno = errno;

	/* Once set it stays: who charges looks at the groups then. */
	atomic_store_explicit(&segment->header->has_high, 1, memory_order_relaxed);
	/* release: pairs with wait_below(). */
	atomic_fetch_add_explicit(&row->high_futex, 1, memory_order_release);
	syscall(SYS_futex, &row->high_futex, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	errno = saved_errno;
}
