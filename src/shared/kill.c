/* SPDX-License-Identifier: MIT */
#include "shared/kill.h"

#include <errno.h>
#include <signal.h>

#include "charge/pause.h"
#include "shared/climb.h"
#include "shared/death.h"
#include "shared/event.h"
#include "shared/recovery.h"
#include "shared/ring.h"
#include "shared/slot.h"
#include "shared/tree.h"

/* Rounds of pause_briefly() that sleep, of 50 us and more. */
#define ROUNDS_SLEPT 1024u
/* How long the dying are waited for: two such waits. */
#define NR_STALLS 2u

/* Who is to be killed: its row may be another's by then. */
struct victim {
	uint32_t row;
	uint64_t name; /* read before it was found that it may be killed; 0: nobody */
};

static uint64_t name_of(const struct segment *segment, uint32_t row)
{
	/* acquire: pairs with slot_claim(); what is read of the row next is not a former one's. */
	return atomic_load_explicit(&segment_name(segment, row)->word, memory_order_acquire);
}

/* relaxed: who is killed is told apart by its name. */
static uint32_t group_of(const struct segment *segment, uint32_t process)
{
	return atomic_load_explicit(&segment_process(segment, process)->group,
				    memory_order_relaxed);
}

/* Has a process a row beside its leaf by which it holds a group? It is there for the others. */
static bool holds_a_group(const struct segment *segment, pid_t pid)
{
	for_each_process_row(segment, row)
	{
		const struct shared_process *its = segment_process(segment, row);

		if (slot_state(its) == PROCESS_LIVE && group_of(segment, row) &&
		    atomic_load_explicit(&its->flags, memory_order_relaxed) & PROCESS_LOOKS &&
		    slot_pid(segment, row) == pid)
			return true;
	}
	return false;
}

/* One that runs as another user by now would be waited for in vain. */
static bool can_be_signalled(pid_t pid)
{
	int saved_errno = errno;
	bool can = pid > 1 && (!kill(pid, 0) || errno != EPERM);

	errno = saved_errno;
	return can;
}

static bool may_be_killed(const struct segment *segment, uint32_t row, uint32_t group)
{
	const struct shared_process *its = segment_process(segment, row);
	uint32_t flags = atomic_load_explicit(&its->flags, memory_order_relaxed);
	pid_t pid = slot_pid(segment, row);

	return slot_is_leaf(segment, row) && !(flags & (PROCESS_WENT_ON | PROCESS_LEFT)) &&
	       tree_is_below(segment, group_of(segment, row), group) &&
	       !holds_a_group(segment, pid) && can_be_signalled(pid);
}

/* Who pays the most for itself; of images nobody knows whom to blame. */
static struct victim choose(const struct segment *segment, uint32_t group)
{
	uint64_t nr_bytes_most = 0;
	struct victim chosen = { 0 };

	for_each_process_row(segment, row)
	{
		uint64_t name = name_of(segment, row);
		uint64_t nr_bytes = climb_own(segment, row);

		if (nr_bytes > nr_bytes_most && may_be_killed(segment, row, group) &&
		    !slot_is_dead(segment, row)) {
			nr_bytes_most = nr_bytes;
			chosen = (struct victim){ row, name };
		}
	}
	return chosen;
}

/* The topmost group from the victim's up to the one that is full that goes as one; 0: none. */
static uint32_t group_to_kill(const struct segment *segment, uint32_t victim, uint32_t full)
{
	uint32_t group = group_of(segment, victim), found = 0;

	for (unsigned int level = 0; level <= SEGMENT_MAX_DEPTH; level++) {
		const struct shared_group *row = segment_group(segment, group);

		if (!row)
			break;
		if (atomic_load_explicit(&row->oom_group, memory_order_relaxed))
			found = group;
		if (group == full)
			break;
		group = tree_parent(segment, group);
	}
	return found;
}

/*
 * Told once a process, however many are refused while it dies; and written down first, so that
 * others do it if the caller dies before (bring_deaths()).
 */
static void kill_process(struct segment *segment, const struct victim *victim, uint32_t asking,
			 uint32_t full, uint64_t nr_bytes)
{
	struct shared_process *its = segment_process(segment, victim->row);

	/* relaxed: of two that choose it one tells it. */
	if (atomic_exchange_explicit(&its->killed, victim->name, memory_order_relaxed) !=
	    victim->name) {
		event_count(segment, group_of(segment, victim->row), SHARED_EVENT_OOM_KILL);
		ring_killed(segment, victim->row, asking, full, nr_bytes);
	}
	death_bring(victim->name);
}

static void kill_group(struct segment *segment, uint32_t group, uint32_t asking, uint32_t full,
		       uint64_t nr_bytes)
{
	struct victim last = { asking, name_of(segment, asking) };

	event_count(segment, group, SHARED_EVENT_OOM_GROUP_KILL);
	for_each_process_row(segment, row)
	{
		struct victim victim = { row, name_of(segment, row) };

		if (row != asking && may_be_killed(segment, row, group))
			kill_process(segment, &victim, asking, full, nr_bytes);
	}
	/* Last, for there is nobody to go on afterwards. */
	if (may_be_killed(segment, asking, group))
		kill_process(segment, &last, asking, full, nr_bytes);
}

/* Is somebody still there that was to die? Who wrote that down may not have come to do it. */
static bool bring_deaths(const struct segment *segment, uint32_t group)
{
	bool anybody_dies = false;

	for_each_process_row(segment, row)
	{
		const struct shared_process *its = segment_process(segment, row);
		uint64_t name = name_of(segment, row);

		if (!name || name != atomic_load_explicit(&its->killed, memory_order_relaxed) ||
		    slot_is_dead(segment, row) || !may_be_killed(segment, row, group))
			continue;
		death_bring(name);
		anybody_dies = true;
	}
	return anybody_dies;
}

static bool wait_for_deaths(const struct segment *segment, uint32_t group)
{
	for (unsigned int stalls = 0; stalls < NR_STALLS; stalls++) {
		int64_t start_ns = 0;

		while (!pause_is_stalled(&start_ns)) {
			if (!bring_deaths(segment, group))
				return true;
			pause_briefly(ROUNDS_SLEPT);
		}
	}
	return false;
}

bool kill_for(struct segment *segment, uint32_t asking, uint32_t group, uint64_t nr_bytes)
{
	const struct shared_group *full = segment_group(segment, group);
	struct victim victim;
	uint32_t all;

	/* Nobody's death makes room for more than max. */
	if (!full ||
	    atomic_load_explicit(&full->oom_policy, memory_order_relaxed) != SHARED_POLICY_KILL ||
	    nr_bytes > atomic_load_explicit(&full->counter.max, memory_order_relaxed))
		return false;
	/* Somebody else's choice may be all that is needed. */
	if (!bring_deaths(segment, group)) {
		/* So may be what those gave back that have died since, or anybody else. */
		recovery_run(segment, false);
		if (climb_headroom(segment, asking, false) >= nr_bytes)
			return true;
		victim = choose(segment, group);
		if (!victim.name)
			return false;
		event_count(segment, group, SHARED_EVENT_MAX);
		event_count(segment, group, SHARED_EVENT_OOM);
		all = group_to_kill(segment, victim.row, group);
		if (all)
			kill_group(segment, all, asking, group, nr_bytes);
		else
			kill_process(segment, &victim, asking, group, nr_bytes);
	}
	if (!wait_for_deaths(segment, group))
		return false;
	recovery_run(segment, false);
	return true;
}
