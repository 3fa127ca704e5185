/* SPDX-License-Identifier: MIT */
/*
 * memory.high of shared groups: threads that charge above it are slowed down, and never refused.
 *
 * Who charged waits afterwards, with nothing held, for a time that grows with the square of the
 * excess (reclaim/delay.h), two seconds at most. It goes on as soon as no group on its path is
 * above its high any more: a futex in the group's row tells of a new high, and usage is looked at
 * every few milliseconds.
 */
#ifndef UMEMCG_SHARED_THROTTLE_H
#define UMEMCG_SHARED_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/segment.h"

/* In an allocation a thread does not wait for less than it charges at once. */
#define THROTTLE_MIN_BYTES ((uint64_t)64 << 10)

/** throttle_is_used - has, or had, some group of the tree a high? */
static inline bool throttle_is_used(const struct segment *segment)
{
	/* relaxed: who charges while the first one is set may be let through once. */
	return unlikely(atomic_load_explicit(&segment->header->has_high, memory_order_relaxed));
}

/** throttle_group_above - the group on a process's path that is furthest above its high; 0: none */
uint32_t throttle_group_above(const struct segment *segment, uint32_t process);

/**
 * throttle_wait - wait as long as @nr_bytes that were charged above a high are to cost
 * @thread: row of the thread, whose stall is counted
 *
 * In no flight, with no lock held. No cancellation point; keeps errno; a signal does not end it.
 *
 * Return: how long it was to be, in microseconds; 0: it did not wait, since there was no need, or
 * the system could not keep a wait as short.
 */
uint64_t throttle_wait(struct segment *segment, uint32_t process, uint32_t thread,
		       uint64_t nr_bytes);

/** throttle_high_changed - a group's high was set: who waits for it looks again */
void throttle_high_changed(struct segment *segment, uint32_t group);

#endif
