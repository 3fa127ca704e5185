/* SPDX-License-Identifier: MIT */
#include "shared/tree_lock.h"

#include <errno.h>

#include "base/system.h"
#include "charge/pause.h"
#include "shared/slot.h"
#include "shared/tree.h"

/* The row is in the lower half; the upper half is raised by who takes it over. */
#define ROW_MASK        0xffffu
#define TAKEN_OVER_ONCE 0x10000u

/* Of both locks together. */
#define TIMEOUT_NS 1000000000u

/* Free rows hold nothing, see tree_lock_leave(); a number that is no row's is nobody's. */
static bool is_nobody(const struct segment *segment, uint32_t row)
{
	const struct shared_process *process = segment_process(segment, row);

	return !process || row >= segment_nr_used(segment, REGION_PROCESSES) ||
	       slot_state(process) == PROCESS_FREE || slot_is_dead(segment, row);
}

/* From one word to another; acquire pairs with the release in tree_lock_give(). */
static bool change(struct segment *segment, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong_explicit(&segment->header->tree_lock, &from, to,
						       memory_order_acquire, memory_order_relaxed);
}

/* Asks now and then only: that costs more than the lock is held usually. */
static bool try_take(struct segment *segment, unsigned int round)
{
	uint32_t word = atomic_load_explicit(&segment->header->tree_lock, memory_order_relaxed);
	uint32_t holder = word & ROW_MASK;

	if (!holder)
		return change(segment, word, word | segment->process);
	if (!pause_is_look(round) || holder == segment->process || !is_nobody(segment, holder))
		return false;
	if (!change(segment, word, ((word & ~ROW_MASK) + TAKEN_OVER_ONCE) | segment->process))
		return false;
	tree_mend(segment);
	return true;
}

int tree_lock_take(struct segment *segment)
{
	uint64_t deadline_ns = system_now_ns() + TIMEOUT_NS;

	/* Not pthread_mutex_timedlock(): its clock can be set, and a step would end the wait. */
	for (unsigned int round = 0; pthread_mutex_trylock(&segment->lock); round++) {
		if (system_now_ns() > deadline_ns)
			return -ETIMEDOUT;
		pause_briefly(round);
	}
	for (unsigned int round = 0; !try_take(segment, round); round++) {
		if (system_now_ns() > deadline_ns) {
			pthread_mutex_unlock(&segment->lock);
			return -ETIMEDOUT;
		}
		pause_briefly(round);
	}
	return 0;
}

static void unlock(struct segment *segment)
{
	/* Nobody else changes it while its holder lives. Release pairs with change(). */
	atomic_fetch_and_explicit(&segment->header->tree_lock, ~ROW_MASK, memory_order_release);
}

void tree_lock_give(struct segment *segment)
{
	unlock(segment);
	pthread_mutex_unlock(&segment->lock);
}

void tree_lock_leave(struct segment *segment, uint32_t process)
{
	uint32_t word = atomic_load_explicit(&segment->header->tree_lock, memory_order_relaxed);

	if ((word & ROW_MASK) != process || !segment->process || process == segment->process)
		return;
	if (!change(segment, word, ((word & ~ROW_MASK) + TAKEN_OVER_ONCE) | segment->process))
		return;
	tree_mend(segment);
	unlock(segment);
}
