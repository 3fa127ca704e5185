/* SPDX-License-Identifier: MIT */
#include "shared/thread.h"

#include <errno.h>

#include "charge/pause.h"
#include "shared/claim.h"
#include "shared/slot.h"
#include "shared/tree.h"

/* relaxed: of a row that nobody else looks at. */
static void clear_flight(struct flight_row *flight)
{
	atomic_store_explicit(&flight->charging, 0, memory_order_relaxed);
	atomic_store_explicit(&flight->uncharging, 0, memory_order_relaxed);
	atomic_store_explicit(&flight->stalled, 0, memory_order_relaxed);
}

void thread_take_off(struct flight_row *flight, uint32_t at)
{
	/* Relaxed: a flight that is waited for again for nothing is a flight that is waited for. */
	atomic_store_explicit(&flight->stalled, 0, memory_order_relaxed);
	/* seq_cst: before the loads of the words that say that somebody waits for us to land. */
	atomic_store_explicit(&flight->charging, at, memory_order_seq_cst);
}

void thread_land(struct flight_row *flight)
{
	/* release: who sees it landed sees what it did. */
	atomic_store_explicit(&flight->charging, 0, memory_order_release);
}

uint32_t thread_claim(struct segment *segment, uint32_t process)
{
	struct shared_process *its = segment_process(segment, process);
	uint32_t row = its ? claim_row(segment, REGION_THREADS, process) : 0;
	struct shared_thread *thread = segment_thread(segment, row);
	uint32_t first;

	if (!row)
		return 0;
	atomic_store_explicit(&thread->process, process, memory_order_relaxed);
	atomic_store_explicit(&thread->stall, 0, memory_order_relaxed);
	clear_flight(&thread->flight);
	first = atomic_load_explicit(&its->first_thread, memory_order_relaxed);
	do {
		atomic_store_explicit(&thread->next, first, memory_order_relaxed);
		/* seq_cst: before the thread's first flight, for whoever walks the list. */
	} while (!atomic_compare_exchange_weak_explicit(
		&its->first_thread, &first, row, memory_order_seq_cst, memory_order_relaxed));
	claim_set_live(&thread->state);
	return row;
}

void thread_free_all(struct segment *segment, uint32_t process)
{
	struct shared_process *its = segment_process(segment, process);

	atomic_store_explicit(&its->first_thread, 0, memory_order_relaxed);
	for_each_row(segment, REGION_THREADS, row)
	{
		struct shared_thread *thread = segment_thread(segment, row);

		if (!claim_is_of(&thread->state, &thread->process, process))
			continue;
		clear_flight(&thread->flight);
		atomic_store_explicit(&thread->stall, 0, memory_order_relaxed);
		atomic_store_explicit(&thread->process, 0, memory_order_relaxed);
		claim_end(&thread->state);
	}
}

/* The flight of a process that another accounts is that one's: void without it. */
static bool flies_no_more(const struct segment *segment, uint32_t process)
{
	const struct shared_process *its = segment_process(segment, process);
	uint32_t claimer = atomic_load_explicit(&its->claimer, memory_order_relaxed);

	if (slot_is_dead(segment, process))
		return true;
	return atomic_load_explicit(&its->flags, memory_order_relaxed) & PROCESS_SUPERVISED &&
	       (!segment_process(segment, claimer) || slot_is_dead(segment, claimer));
}

/* Whom one waits for. */
struct awaited {
	uint32_t group; /* at or below it; 0: everywhere, and whoever gives back as well */
	uint32_t but;   /* row of the thread that asks */
	bool by_flight; /* of a process that is no leaf: its flights name their groups themselves */
	bool gives_back; /* who gives back is waited for, too */
};

static bool is_in_flight(const struct segment *segment, const struct shared_thread *thread,
			 const struct awaited *awaited)
{
	/* Loads after the store of the frozen word, or of recovering; partner: flight_publish(). */
	uint32_t at = atomic_load_explicit(&thread->flight.charging, memory_order_seq_cst);

	if (at && (!awaited->by_flight || tree_is_below(segment, at, awaited->group)))
		return true;
	return awaited->gives_back &&
	       atomic_load_explicit(&thread->flight.uncharging, memory_order_seq_cst);
}

static int wait_for(struct segment *segment, uint32_t process, struct shared_thread *thread,
		    const struct awaited *awaited)
{
	int64_t start_ns = 0;

	for (unsigned int round = 0; is_in_flight(segment, thread, awaited); round++) {
		if (pause_is_look(round)) {
			if (flies_no_more(segment, process))
				return 0;
			if (atomic_load_explicit(&thread->flight.stalled, memory_order_relaxed))
				return -ETIME;
			if (pause_is_stalled(&start_ns)) {
				atomic_store_explicit(&thread->flight.stalled, 1,
						      memory_order_relaxed);
				return -ETIME;
			}
		}
		pause_briefly(round);
	}
	return 0;
}

static int wait_for_process(struct segment *segment, uint32_t process,
			    const struct awaited *awaited)
{
	struct shared_thread *thread;
	int r = 0;

	for_each_thread(segment, process, row, thread)
	{
		if (row != awaited->but && wait_for(segment, process, thread, awaited))
			r = -ETIME;
	}
	return r;
}

/*
 * What a process gives back while it holds an image lowers usage by less, or by nothing, as its
 * ledger has it: then it keeps out of the way of whoever closes its stocks (climb.c).
 */
static bool holds_image(const struct shared_process *process)
{
	/* seq_cst: after the store of the frozen word, which a later uncharge finds. */
	return atomic_load_explicit(&process->image, memory_order_seq_cst);
}

bool thread_is_stalled(const struct segment *segment, uint32_t process)
{
	const struct shared_thread *thread;

	for_each_thread(segment, process, row, thread)
	{
		/* relaxed: the caller has marked it, or its owner cleared it before it took off. */
		if (atomic_load_explicit(&thread->flight.stalled, memory_order_relaxed) &&
		    is_in_flight(segment, thread, &(struct awaited){ 0 }))
			return true;
	}
	return false;
}

int thread_wait_landed(struct segment *segment, uint32_t group, uint32_t but)
{
	int r = 0;

	for_each_process_row(segment, row)
	{
		struct shared_process *process = segment_process(segment, row);
		uint32_t its_group = atomic_load_explicit(&process->group, memory_order_acquire);
		uint32_t flags = atomic_load_explicit(&process->flags, memory_order_relaxed);
		struct awaited awaited = { .group = group, .but = but };

		if (atomic_load_explicit(&process->state, memory_order_seq_cst) == PROCESS_FREE)
			continue;
		awaited.by_flight = group && (!its_group || flags & PROCESS_LOOKS);
		awaited.gives_back = !group || holds_image(process);
		if (group && !awaited.by_flight && !tree_is_below(segment, its_group, group))
			continue;
		if (!wait_for_process(segment, row, &awaited)) {
			if (unlikely(flags & PROCESS_STALLED) && !group)
				atomic_fetch_and_explicit(&process->flags,
							  ~(uint32_t)PROCESS_STALLED,
							  memory_order_relaxed);
			continue;
		}
		atomic_fetch_or_explicit(&process->flags, PROCESS_STALLED, memory_order_relaxed);
		r = -ETIME;
	}
	return r;
}
