/* SPDX-License-Identifier: MIT */
#include "shared/supervise.h"

#include <errno.h>

#include "shared/climb.h"
#include "shared/decide.h"
#include "shared/recovery.h"
#include "shared/slot.h"
#include "shared/thread.h"
#include "shared/tree.h"

/* A leaf is a row and a part of its process's name, so that none is taken for its successor's. */
#define LEAF_ROW_BITS 16

uint32_t supervise_leaf(const struct segment *segment, uint32_t row)
{
	uint64_t name =
		atomic_load_explicit(&segment_name(segment, row)->word, memory_order_relaxed);
	uint64_t mixed = name * 0x9e3779b97f4a7c15u;

	return (uint32_t)(mixed >> 48) << LEAF_ROW_BITS | row;
}

uint32_t supervise_row(const struct segment *segment, uint32_t leaf)
{
	uint32_t row = leaf & ((1u << LEAF_ROW_BITS) - 1);
	const struct shared_process *process = segment_process(segment, row);

	if (!process || row >= segment_nr_used(segment, REGION_PROCESSES) ||
	    slot_state(process) != PROCESS_LIVE ||
	    !(atomic_load_explicit(&process->flags, memory_order_relaxed) & PROCESS_SUPERVISED) ||
	    supervise_leaf(segment, row) != leaf)
		return 0;
	return row;
}

/* The only thread row of a supervised process is its supervisor's. */
static uint32_t thread_of(const struct segment *segment, uint32_t process)
{
	const struct shared_process *its = segment_process(segment, process);

	return its ? atomic_load_explicit(&its->first_thread, memory_order_relaxed) : 0;
}

static struct flight_row *flight_of(const struct segment *segment, uint32_t process)
{
	return &segment_thread(segment, thread_of(segment, process))->flight;
}

static void begin_charge(struct segment *segment, uint32_t process)
{
	uint32_t group = climb_group(segment, process);
	struct flight_row *flight = flight_of(segment, process);

	for (;;) {
		thread_take_off(flight, 1);
		if (!climb_is_frozen(segment, group))
			return;
		thread_land(flight);
		climb_wait_thawed(segment, group);
	}
}

/* Waits for no decision, only for a recovery. */
static void begin_uncharge(struct segment *segment, uint32_t process)
{
	struct flight_row *flight = flight_of(segment, process);

	for (;;) {
		/* seq_cst: before the load of `recovering`; partner: thread_wait_landed(). */
		atomic_store_explicit(&flight->uncharging, 1, memory_order_seq_cst);
		if (!climb_is_recovering(segment))
			return;
		atomic_store_explicit(&flight->uncharging, 0, memory_order_release);
		climb_wait_thawed(segment, climb_group(segment, process));
	}
}

static void end_uncharge(const struct segment *segment, uint32_t process)
{
	/* release: who sees it landed sees what it gave back. */
	atomic_store_explicit(&flight_of(segment, process)->uncharging, 0, memory_order_release);
}

/* What it was before kept its place for it. In flight, so that nobody recovers meanwhile. */
static void forget_former(struct segment *segment, uint32_t process, pid_t pid)
{
	uint32_t former = slot_find_former(segment, pid, process);

	if (!former)
		return;
	begin_uncharge(segment, process);
	former = slot_find_former(segment, pid, process);
	if (former &&
	    atomic_load_explicit(&segment_process(segment, former)->flags, memory_order_relaxed) &
		    PROCESS_WENT_ON)
		slot_free(segment, former);
	end_uncharge(segment, process);
}

/* Has another claimed it, or has it come to account itself, while we did? The lower row stays. */
static bool is_second(const struct segment *segment, uint32_t own, pid_t pid)
{
	for_each_process_row(segment, row)
	{
		const struct shared_process *process = segment_process(segment, row);
		uint32_t flags = atomic_load_explicit(&process->flags, memory_order_relaxed);

		if (row != own && slot_state(process) != PROCESS_FREE &&
		    !(flags & PROCESS_WENT_ON) && slot_pid(segment, row) == pid &&
		    !(flags & PROCESS_LOOKS) && (row < own || !(flags & PROCESS_SUPERVISED)) &&
		    !slot_is_dead(segment, row))
			return true;
	}
	return false;
}

int supervise_claim(struct segment *segment, uint32_t group, pid_t pid, uint64_t max,
		    uint32_t *ret_process)
{
	struct shared_process *its;
	uint32_t process;
	int r;

	if (slot_find(segment, pid))
		return -EEXIST;
	r = slot_claim(segment, segment->process, pid, PROCESS_SUPERVISED, &process);
	if (r)
		return r;
	its = segment_process(segment, process);
	if (!thread_claim(segment, process)) {
		slot_free(segment, process);
		return -ENOSPC;
	}
	atomic_store_explicit(&its->max, max, memory_order_relaxed);
	/* Not live before: from then on the process may come to account itself, and frees the row.
	 */
	forget_former(segment, process, pid);
	r = tree_join(segment, process, group);
	if (r) {
		thread_free_all(segment, process);
		slot_free(segment, process);
		return r;
	}
	slot_set_live(segment, process);
	if (is_second(segment, process, pid)) {
		supervise_release(segment, process);
		return -EEXIST;
	}
	*ret_process = process;
	return 0;
}

static bool is_ours(const struct segment *segment, uint32_t process)
{
	const struct shared_process *its = segment_process(segment, process);

	return its && thread_of(segment, process) &&
	       atomic_load_explicit(&its->claimer, memory_order_relaxed) == segment->process;
}

static void count_anon(struct segment *segment, uint32_t process, uint64_t nr_bytes)
{
	struct shared_process *its = segment_process(segment, process);

	/* relaxed: for show. */
	if (its)
		atomic_fetch_add_explicit(&its->nr_bytes_anon, nr_bytes, memory_order_relaxed);
}

static bool is_above_own_max(const struct segment *segment, uint32_t process, uint64_t nr_bytes)
{
	const struct shared_process *its = segment_process(segment, process);
	uint64_t max = atomic_load_explicit(&its->max, memory_order_relaxed);
	uint64_t used = atomic_load_explicit(&its->used, memory_order_relaxed);

	return nr_bytes > max || used > max - nr_bytes;
}

/* 0, or the level that refused. */
static uint32_t try_charge(struct segment *segment, uint32_t process, uint64_t nr_bytes)
{
	struct decider decider = { .process = process, .thread = thread_of(segment, process) };
	uint32_t at;

	begin_charge(segment, process);
	at = climb_try_add(segment, process, nr_bytes, false);
	thread_land(flight_of(segment, process));
	return at && decide(segment, &decider, nr_bytes, at, &at) ? at : 0;
}

int supervise_charge(struct segment *segment, uint32_t process, uint64_t nr_bytes,
		     uint32_t *ret_group)
{
	uint32_t at;

	if (!is_ours(segment, process))
		return -EINVAL;
	*ret_group = 0;
	if (is_above_own_max(segment, process, nr_bytes))
		return -ENOMEM;
	at = try_charge(segment, process, nr_bytes);
	if (at) {
		*ret_group = at & ~ABOVE;
		return -ENOMEM;
	}
	count_anon(segment, process, nr_bytes);
	return 0;
}

void supervise_uncharge(struct segment *segment, uint32_t process, uint64_t nr_bytes)
{
	uint64_t used;

	if (!is_ours(segment, process))
		return;
	begin_uncharge(segment, process);
	/* More than it has stays what it has. */
	used = atomic_load_explicit(&segment_process(segment, process)->used, memory_order_relaxed);
	nr_bytes = min(used, nr_bytes);
	count_anon(segment, process, -nr_bytes);
	climb_sub(segment, process, nr_bytes);
	end_uncharge(segment, process);
}

void supervise_release(struct segment *segment, uint32_t process)
{
	if (!is_ours(segment, process))
		return;
	slot_give_up(segment, process);
	recovery_run(segment, true);
}
