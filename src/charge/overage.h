/* SPDX-License-Identifier: MIT */
/*
 * Over high: what a thread charges while a group that it charges is above its high is counted,
 * for the wait that follows; and whoever waits is woken when that may be over.
 */
#ifndef UMEMCG_CHARGE_OVERAGE_H
#define UMEMCG_CHARGE_OVERAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "charge/counter.h"

struct flight;

/* Set for good by the first high. Relaxed: a charge that misses it came before. */
extern hidden _Atomic bool high_is_used;

static always_inline bool overage_is_possible(void)
{
	return unlikely(atomic_load_explicit(&high_is_used, memory_order_relaxed));
}

/** overage_use - from now on a group may have a high; by overage_set_high(), or for others' groups
 */
void overage_use(void);

/** overage_here - bytes that one level has above its high, and the high; 0 if it is not above */
uint64_t overage_here(uint32_t id, uint64_t *ret_high);

/** overage_is_on_path - is a level from @id upwards above its high? */
bool overage_is_on_path(uint32_t id);

void overage_count(struct flight *flight, uint32_t id, uint64_t nr_bytes);

/** overage_note - @flight has charged @nr_bytes to the levels from @id upwards */
static always_inline void overage_note(struct flight *flight, uint32_t id, uint64_t nr_bytes)
{
	if (overage_is_possible())
		overage_count(flight, id, nr_bytes);
}

/** overage_set_high - the counter has its limit row; who waits looks again */
void overage_set_high(uint32_t id, uint64_t high);

/** overage_changes - changes of which waiting threads were told; what is looked at afterwards is
 * no older */
uint32_t overage_changes(void);

/** overage_wake - have all who wait look again */
void overage_wake(void);

/**
 * overage_wait - until somebody wakes, at most so long
 * @changes: as overage_changes() said; returns at once if that has gone on
 *
 * No cancellation point, allocates nothing, keeps errno.
 *
 * Return: false if a signal's handler ran.
 */
bool overage_wait(uint32_t changes, uint64_t timeout_ns);

#endif
