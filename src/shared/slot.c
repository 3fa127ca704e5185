/* SPDX-License-Identifier: MIT */
#include "shared/slot.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/system.h"
#include "shared/death.h"
#include "shared/tree.h"
#include "shared/tree_lock.h"

/* A claimed row says by whom in one word with its state, so that it is never claimed by nobody. */
static uint32_t claimed_by(pid_t pid)
{
	return PROCESS_CLAIMED | (uint32_t)pid << PROCESS_STATE_BITS;
}

static uint64_t name_at(const struct segment *segment, uint32_t row)
{
	const struct process_name *name = segment_name(segment, row);

	/* Acquire pairs with who names it: start times are read before. */
	return name ? atomic_load_explicit(&name->word, memory_order_acquire) : 0;
}

static uint64_t image_at(const struct segment *segment, uint32_t row)
{
	return atomic_load_explicit(&segment_name(segment, row)->image, memory_order_relaxed);
}

pid_t slot_pid(const struct segment *segment, uint32_t row)
{
	return death_pid(name_at(segment, row));
}

static uint32_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint32_t)now.tv_sec;
}

/*
 * A child that was killed before it had named itself, which its parent cannot see unless it is told
 * (slot_born()). One that is only late finds its row taken, and joins anew. A row that was charged
 * ahead is its claimer's until the fork.
 */
static bool was_never_born(const struct shared_process *process)
{
	uint32_t claimed_s = atomic_load_explicit(&process->claimed_s, memory_order_relaxed);

	return claimed_s && now_s() - claimed_s > SLOT_BIRTH_S &&
	       (atomic_load_explicit(&process->image, memory_order_relaxed) ||
		!atomic_load_explicit(&process->used, memory_order_relaxed));
}

/* Named or not, is the process behind a row that is not free dead? */
static bool is_dead(const struct segment *segment, uint32_t row, uint32_t state)
{
	uint64_t name = name_at(segment, row);

	if (name)
		return death_of_image(name, image_at(segment, row));
	if (was_never_born(segment_process(segment, row)))
		return true;
	/* Whoever was to name it. Live and without a name: a slot_free() that did not end. */
	return (state & ((1u << PROCESS_STATE_BITS) - 1)) != PROCESS_CLAIMED ||
	       death_of_pid((pid_t)(state >> PROCESS_STATE_BITS));
}

/* Relaxed: nobody looks at a claimed row's ledger, and slot_set_live() is a release. */
#define reset(field, value) atomic_store_explicit(&(field), value, memory_order_relaxed)

bool slot_is_dead(const struct segment *segment, uint32_t row)
{
	const struct shared_process *process = segment_process(segment, row);
	uint32_t state, flags;

	if (!process)
		return true;
	/* Acquire pairs with slot_set_live(), for the flags. */
	state = atomic_load_explicit(&process->state, memory_order_acquire);
	flags = atomic_load_explicit(&process->flags, memory_order_relaxed);
	if (flags & PROCESS_LEFT)
		return true;
	if (flags & PROCESS_WENT_ON)
		return death_of(name_at(segment, row));
	return is_dead(segment, row, state);
}

bool slot_has_gone_on(const struct segment *segment, uint32_t row)
{
	const struct shared_process *process = segment_process(segment, row);
	uint32_t flags = atomic_load_explicit(&process->flags, memory_order_relaxed);
	uint64_t name = name_at(segment, row);

	return slot_state(process) == PROCESS_LIVE && name &&
	       !(flags & (PROCESS_LEFT | PROCESS_LOOKS)) && !death_of(name);
}

/* Relaxed: whoever recovers is alone with the row. */
void slot_keep_place(struct segment *segment, uint32_t row)
{
	struct shared_process *process = segment_process(segment, row);

	atomic_fetch_or_explicit(&process->flags, PROCESS_WENT_ON, memory_order_relaxed);
	reset(process->image, 0);
	reset(process->used, 0);
	reset(process->owed, 0);
	reset(process->nr_bytes_stack, 0);
	reset(process->nr_bytes_anon, 0);
	reset(process->nr_threads, 0);
	reset(process->can_reclaim, 0);
	reset(process->reclaim_wanted, 0);
}

/* Claimed by nobody: a recovery takes it out of the books, and nobody else may have it. */
#define CONDEMNED claimed_by(0)

/* One with a group may be charged, for a child that was to be: that is for a recovery. */
static bool is_for_the_taking(const struct segment *segment, uint32_t row, uint32_t state)
{
	if (state == PROCESS_FREE)
		return true;
	return (state & ((1u << PROCESS_STATE_BITS) - 1)) == PROCESS_CLAIMED &&
	       state != CONDEMNED && !name_at(segment, row) &&
	       !atomic_load_explicit(&segment_process(segment, row)->group, memory_order_relaxed) &&
	       is_dead(segment, row, state);
}

bool slot_condemn(struct segment *segment, uint32_t row)
{
	struct shared_process *process = segment_process(segment, row);
	uint32_t state;

	if (!process || !slot_is_dead(segment, row))
		return false;
	/* Seq_cst, both: partners are try_claim() and slot_name(), of which one may win. */
	state = atomic_load_explicit(&process->state, memory_order_seq_cst);
	if (state == PROCESS_FREE)
		return false;
	if (state == PROCESS_LIVE || name_at(segment, row))
		/* It has its name for good, and death is final. */
		return slot_is_dead(segment, row);
	/* Of this very state: a row that was given up is dead whoever claimed it. */
	return slot_is_dead(segment, row) &&
	       atomic_compare_exchange_strong_explicit(&process->state, &state, CONDEMNED,
						       memory_order_seq_cst, memory_order_seq_cst);
}

/* Seq_cst: part of the order in which claims, the look at the header and removals stand. */
static bool try_claim(struct segment *segment, uint32_t row, pid_t me)
{
	struct shared_process *process = segment_process(segment, row);
	uint32_t state = atomic_load_explicit(&process->state, memory_order_seq_cst);

	return is_for_the_taking(segment, row, state) &&
	       atomic_compare_exchange_strong_explicit(&process->state, &state, claimed_by(me),
						       memory_order_seq_cst, memory_order_relaxed);
}

/* /proc/PID/comm, for show: an empty one if it cannot be read. */
static void read_command(pid_t pid, char command[16])
{
	char path[DEATH_PATH_MAX];
	ssize_t length;

	memset(command, 0, 16);
	if (!pid)
		return;
	death_path(pid, "/comm", path);
	length = system_read_file(path, command, 15);
	if (length > 0 && command[length - 1] == '\n')
		command[length - 1] = '\0';
}

static void fill_in(struct segment *segment, uint32_t row, uint32_t claimer, pid_t pid,
		    unsigned int flags)
{
	struct shared_process *process = segment_process(segment, row);

	reset(process->group, 0);
	reset(process->used, 0);
	reset(process->owed, 0);
	reset(process->image, 0);
	reset(process->flags, flags);
	reset(process->max, COUNTER_MAX);
	reset(process->peak, 0);
	reset(process->first_thread, 0);
	reset(process->first_chunk, 0);
	reset(process->claimer, claimer);
	reset(process->nr_bytes_stack, 0);
	reset(process->nr_bytes_anon, 0);
	reset(process->nr_threads, 0);
	reset(process->can_reclaim, 0);
	reset(process->reclaim_wanted, 0);
	reset(process->claimed_s, claimer && !pid ? now_s() : 0);
	read_command(pid, process->command);
}

int slot_claim(struct segment *segment, uint32_t claimer, pid_t pid, unsigned int flags,
	       uint32_t *ret_row)
{
	uint32_t nr_rows = segment->nr_rows[REGION_PROCESSES];
	pid_t me = getpid();
	uint64_t name = 0;
	int r;

	if (pid && death_name_of(pid, &name))
		return -ESRCH;
	if (!(flags & PROCESS_LOOKS))
		nr_rows -= min(nr_rows, SLOT_NR_KEPT);
	for (uint32_t row = 1; row < nr_rows; row++) {
		r = segment_commit_row(segment, REGION_NAMES, row);
		if (!r)
			r = segment_commit_row(segment, REGION_PROCESSES, row);
		if (r)
			return r;
		if (!try_claim(segment, row, me))
			continue;
		if (!pid)
			segment->forker = me;
		fill_in(segment, row, claimer, pid, flags);
		atomic_store_explicit(&segment_name(segment, row)->image,
				      pid ? death_image_of(pid) : 0, memory_order_relaxed);
		/* Also if it has one: of somebody late, who named the row of a child long dead. */
		atomic_store_explicit(&segment_name(segment, row)->word, name,
				      memory_order_seq_cst);
		*ret_row = row;
		return 0;
	}
	return -ENOSPC;
}

void slot_set_live(struct segment *segment, uint32_t row)
{
	struct shared_process *process = segment_process(segment, row);

	/* Seq_cst: before the look at the header, and a release for what is filled in. */
	if (process)
		atomic_store_explicit(&process->state, PROCESS_LIVE, memory_order_seq_cst);
}

/*
 * The row is made the child's before it is named. From then on nobody takes it while the child
 * lives; and who comes when it was taken before finds a state that is not the forker's.
 */
int slot_name(struct segment *segment, uint32_t row, pid_t pid)
{
	struct shared_process *process = segment_process(segment, row);
	struct process_name *place = segment_name(segment, row);
	uint32_t state = claimed_by(segment->forker);
	uint64_t name, found = 0;

	if (!process || !place || death_name_of(pid, &name))
		return -ESRCH;
	/* Seq_cst against try_claim(), which looks at the name before it takes the row. */
	if (!atomic_compare_exchange_strong_explicit(&process->state, &state, claimed_by(pid),
						     memory_order_seq_cst, memory_order_seq_cst) &&
	    state != claimed_by(pid))
		/* The other one of the two may have named it and set it live. */
		return state == PROCESS_LIVE && name_at(segment, row) == name ? 0 : -ESRCH;
	atomic_store_explicit(&place->image, death_image_of(pid), memory_order_relaxed);
	if (!atomic_compare_exchange_strong_explicit(&place->word, &found, name,
						     memory_order_seq_cst, memory_order_seq_cst) &&
	    found != name)
		return -ESRCH;
	read_command(pid, process->command);
	return 0;
}

void slot_born(struct segment *segment, uint32_t row, pid_t pid)
{
	struct shared_process *process = segment_process(segment, row);
	uint32_t state = claimed_by(getpid());

	/* Seq_cst: as slot_name(), which may have been first. */
	if (process)
		atomic_compare_exchange_strong_explicit(&process->state, &state, claimed_by(pid),
							memory_order_seq_cst, memory_order_relaxed);
}

void slot_give_up(struct segment *segment, uint32_t row)
{
	/* Release pairs with the acquires of those who ask whether it is dead. */
	atomic_fetch_or_explicit(&segment_process(segment, row)->flags, PROCESS_LEFT,
				 memory_order_release);
}

void slot_free(struct segment *segment, uint32_t row)
{
	struct shared_process *process = segment_process(segment, row);

	if (!process)
		return;
	tree_lock_leave(segment, row);
	fill_in(segment, row, 0, 0, 0);
	/* Whoever sees the row free sees it empty; release pairs with try_claim(). */
	atomic_store_explicit(&segment_name(segment, row)->word, 0, memory_order_release);
	atomic_store_explicit(&process->state, PROCESS_FREE, memory_order_release);
}

uint32_t slot_find_former(const struct segment *segment, pid_t pid, uint32_t but)
{
	uint64_t name;

	if (death_name_of(pid, &name))
		return 0;
	for_each_process_row(segment, row)
	{
		const struct shared_process *process = segment_process(segment, row);

		if (row != but && slot_state(process) == PROCESS_LIVE &&
		    name_at(segment, row) == name &&
		    !(atomic_load_explicit(&process->flags, memory_order_relaxed) & PROCESS_LOOKS))
			return row;
	}
	return 0;
}

uint32_t slot_find(const struct segment *segment, pid_t pid)
{
	for_each_process_row(segment, row)
	{
		const struct shared_process *process = segment_process(segment, row);

		if (slot_state(process) == PROCESS_LIVE && slot_pid(segment, row) == pid &&
		    !(atomic_load_explicit(&process->flags, memory_order_relaxed) &
		      (PROCESS_LOOKS | PROCESS_WENT_ON)) &&
		    !slot_is_dead(segment, row))
			return row;
	}
	return 0;
}

uint32_t slot_first_dead(const struct segment *segment, uint32_t group)
{
	for_each_process_row(segment, row)
	{
		const struct shared_process *process = segment_process(segment, row);
		uint32_t at = atomic_load_explicit(&process->group, memory_order_relaxed);

		if (slot_state(process) != PROCESS_FREE &&
		    (!group || tree_is_below(segment, at, group)) && slot_is_dead(segment, row))
			return row;
	}
	return 0;
}
