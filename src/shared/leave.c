/* SPDX-License-Identifier: MIT */
#include "shared/leave.h"

#include <unistd.h>

#include "shared/chunk.h"
#include "shared/climb.h"
#include "shared/recovery.h"
#include "shared/slot.h"
#include "shared/stall.h"
#include "shared/thread.h"

/* A thread that exec ended in the middle of a charge: only the ledger is to be believed. */
static bool was_in_flight(const struct segment *segment, uint32_t process)
{
	const struct shared_thread *thread;

	for_each_thread(segment, process, row, thread)
	{
		/* relaxed: nobody writes them any more. */
		if (atomic_load_explicit(&thread->flight.charging, memory_order_relaxed) ||
		    atomic_load_explicit(&thread->flight.uncharging, memory_order_relaxed))
			return true;
	}
	return false;
}

/* In flight. Usage is lowered before the ledger is, as by every uncharge. */
static void give_back(struct segment *segment, uint32_t process)
{
	struct shared_process *its = segment_process(segment, process);

	climb_sub_own(segment, process);
	atomic_store_explicit(&its->used, 0, memory_order_seq_cst);
	atomic_store_explicit(&its->image, 0, memory_order_release);
	thread_free_all(segment, process);
	chunk_free_all(segment, process);
	slot_free(segment, process);
	/* Of its threads that exec ended while they waited above high. */
	stall_recount(segment);
}

void leave_former(struct segment *segment)
{
	uint32_t former = slot_find_former(segment, getpid(), segment->process);
	struct flight_row *flight;

	if (!former)
		return;
	if (!segment->thread)
		segment->thread = thread_claim(segment, segment->process);
	for (; former; former = slot_find_former(segment, getpid(), segment->process)) {
		bool is_over = false;

		flight = segment->thread ? &segment_thread(segment, segment->thread)->flight : NULL;
		if (flight && !was_in_flight(segment, former)) {
			uint32_t group = climb_group(segment, former);

			/* As if it charged: who closes the former's stocks waits for it, too. */
			thread_take_off(flight, group ? group : SHARED_ROOT);
			is_over = !climb_is_frozen(segment, group);
			if (is_over)
				give_back(segment, former);
			thread_land(flight);
		}
		if (!is_over) {
			slot_give_up(segment, former);
			if (recovery_run(segment, true))
				return;
		}
	}
}
