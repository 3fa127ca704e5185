/* SPDX-License-Identifier: MIT */
#include "shared/climb.h"

#include "charge/pause.h"
#include "shared/event.h"
#include "shared/image.h"
#include "shared/recovery.h"
#include "shared/slot.h"
#include "shared/tree.h"

/* What a refusal is remembered for. */
enum bound { BELOW_RESERVE, UP_TO_MAX };

uint32_t climb_group(const struct segment *segment, uint32_t process)
{
	const struct shared_process *its = segment_process(segment, process);

	/* relaxed: it does not change while the process charges. */
	return its ? atomic_load_explicit(&its->group, memory_order_relaxed) : 0;
}

/* Upwards from a group, no further than a tree may be deep, whatever the rows hold. */
#define for_each_level(segment, row, group, first)                                                 \
	for (uint32_t row = (first), nr_levels_ = 0;                                               \
	     nr_levels_ <= SEGMENT_MAX_DEPTH && ((group) = segment_group(segment, row));           \
	     nr_levels_++,                                                                         \
		      row = atomic_load_explicit(&(group)->counter.parent, memory_order_relaxed))

bool climb_is_recovering(const struct segment *segment)
{
	/* seq_cst: stands after a flight was published; partner: recovery.c. */
	return atomic_load_explicit(&segment->header->recovering, memory_order_seq_cst);
}

static uint32_t frozen_by(const struct segment *segment, uint32_t group)
{
	struct shared_group *level;

	for_each_level(segment, row, level, group)
	{
		/* seq_cst: as above; partner: decide.c. */
		uint32_t holder =
			atomic_load_explicit(&level->counter.frozen, memory_order_seq_cst);

		if (holder)
			return holder;
	}
	return atomic_load_explicit(&segment->header->recovering, memory_order_seq_cst);
}

bool climb_is_frozen(const struct segment *segment, uint32_t group)
{
	return frozen_by(segment, group);
}

void climb_wait_thawed(struct segment *segment, uint32_t group)
{
	uint32_t holder;

	for (unsigned int round = 0; (holder = frozen_by(segment, group)); round++) {
		if (pause_is_look(round))
			recovery_of_holder(segment, holder);
		pause_briefly(round);
	}
}

uint64_t climb_image_bytes(const struct segment *segment, uint32_t process)
{
	const struct shared_process *its = segment_process(segment, process);

	return its ? image_bytes(segment, atomic_load_explicit(&its->image, memory_order_relaxed))
		   : 0;
}

static uint64_t own_of(uint64_t used, uint64_t foreign)
{
	return used > foreign ? used - foreign : 0;
}

/* What of `used` is not the process's own: given back by others, or held by reference. */
static uint64_t foreign_bytes(const struct segment *segment, uint32_t process)
{
	const struct shared_process *its = segment_process(segment, process);
	uint64_t owed = atomic_load_explicit(&its->owed, memory_order_relaxed) >> 1;

	return min(owed + climb_image_bytes(segment, process), COUNTER_USAGE_MAX);
}

uint64_t climb_own(const struct segment *segment, uint32_t process)
{
	const struct shared_process *its = segment_process(segment, process);
	uint64_t used;

	if (!its)
		return 0;
	used = atomic_load_explicit(&its->used, memory_order_relaxed);
	return min(own_of(used, foreign_bytes(segment, process)), COUNTER_USAGE_MAX);
}

uint32_t climb_nr_processes(const struct segment *segment, uint32_t group)
{
	uint32_t nr = 0;

	for_each_process_row(segment, row)
	{
		const struct shared_process *its = segment_process(segment, row);
		uint32_t state = atomic_load_explicit(&its->state, memory_order_relaxed);
		uint32_t below = atomic_load_explicit(&its->group, memory_order_relaxed);
		uint32_t flags = atomic_load_explicit(&its->flags, memory_order_relaxed);

		nr += state != PROCESS_FREE && below &&
		      !(flags & (PROCESS_LOOKS | PROCESS_WENT_ON)) &&
		      tree_is_below(segment, below, group);
	}
	return max(nr, 1u);
}

/* What of a group's max is not set aside. */
static uint64_t rest_of(const struct shared_group *group)
{
	uint64_t max = atomic_load_explicit(&group->counter.max, memory_order_relaxed);
	uint64_t reserve = atomic_load_explicit(&group->reserve, memory_order_relaxed);

	return max - min(max, reserve);
}

/*
 * The reserve is for processes that have no more than their part of the rest, so that the greedy
 * one is refused first. A part of the rest and not of max: one that is alone would leave nothing
 * of the reserve to its threads that are in it.
 */
static enum bound bound_at(const struct segment *segment, uint32_t row, uint64_t own,
			   uint64_t nr_bytes)
{
	const struct shared_group *group = segment_group(segment, row);
	uint64_t rest = rest_of(group);

	if (atomic_load_explicit(&group->counter.max, memory_order_relaxed) > COUNTER_USAGE_MAX ||
	    !atomic_load_explicit(&group->reserve, memory_order_relaxed))
		return UP_TO_MAX;
	if (nr_bytes > rest || own > rest - nr_bytes)
		return BELOW_RESERVE;
	return own + nr_bytes <= rest / climb_nr_processes(segment, row) ? UP_TO_MAX
									 : BELOW_RESERVE;
}

static uint64_t limit_at(const struct segment *segment, uint32_t row, uint64_t own,
			 uint64_t nr_bytes, bool use_reserve)
{
	const struct shared_group *group = segment_group(segment, row);
	uint64_t max = atomic_load_explicit(&group->counter.max, memory_order_relaxed);
	uint64_t rest = rest_of(group);

	if (max > COUNTER_USAGE_MAX || use_reserve)
		return min(max, COUNTER_USAGE_MAX);
	/* Processes are counted only where that makes a difference. */
	if (nr_bytes <= rest &&
	    atomic_load_explicit(&group->counter.usage, memory_order_relaxed) <= rest - nr_bytes)
		return rest;
	return bound_at(segment, row, own, nr_bytes) == UP_TO_MAX ? max : rest;
}

static void note_peak(struct shared_process *process)
{
	/* relaxed: for show. */
	uint64_t used = atomic_load_explicit(&process->used, memory_order_relaxed);

	if (used > atomic_load_explicit(&process->peak, memory_order_relaxed))
		atomic_store_explicit(&process->peak, used, memory_order_relaxed);
}

/* From a process's group upwards; 0, or the level that is full. */
static uint32_t add_levels(const struct segment *segment, uint32_t first, uint64_t own,
			   uint64_t nr_bytes, bool use_reserve)
{
	struct shared_group *group;
	uint32_t full = 0;

	for_each_level(segment, row, group, first)
	{
		if (!counter_try_add_here(&group->counter, nr_bytes,
					  limit_at(segment, row, own, nr_bytes, use_reserve))) {
			full = row;
			break;
		}
	}
	for_each_level(segment, row, group, first)
	{
		if (row == full)
			break;
		if (full)
			counter_undo_here(&group->counter, nr_bytes);
		else
			counter_note_peak(&group->counter);
	}
	return full ? full | ABOVE : 0;
}

uint32_t climb_try_add(struct segment *segment, uint32_t process, uint64_t nr_bytes,
		       bool use_reserve)
{
	struct shared_process *its = segment_process(segment, process);
	bool has_image = atomic_load_explicit(&its->image, memory_order_relaxed);
	uint64_t change = nr_bytes, foreign, own, used;
	uint32_t full;

	/*
	 * Who holds an image changes usage by less than it charges: one thread at a time. Without
	 * one the ledger's words are not looked at together, since other threads settle meanwhile.
	 */
	if (has_image)
		pthread_mutex_lock(&segment->ledger_lock);
	used = atomic_fetch_add_explicit(&its->used, nr_bytes, memory_order_seq_cst);
	foreign = foreign_bytes(segment, process);
	own = own_of(used, foreign);
	if (has_image)
		change = own_of(used + nr_bytes, foreign) - own;
	full = add_levels(segment, climb_group(segment, process), own, change, use_reserve);
	if (full)
		atomic_fetch_sub_explicit(&its->used, nr_bytes, memory_order_seq_cst);
	else
		note_peak(its);
	if (has_image)
		pthread_mutex_unlock(&segment->ledger_lock);
	return full;
}

static void sub_levels(const struct segment *segment, uint32_t first, uint64_t nr_bytes)
{
	struct shared_group *group;

	for_each_level(segment, row, group, first)
	{
		uint64_t taken = counter_sub_here(&group->counter, nr_bytes);

		if (unlikely(taken < nr_bytes))
			event_count(segment, row, SHARED_EVENT_UNDERFLOW);
	}
}

void climb_sub(struct segment *segment, uint32_t process, uint64_t nr_bytes)
{
	struct shared_process *its = segment_process(segment, process);
	bool has_image = atomic_load_explicit(&its->image, memory_order_relaxed);
	uint64_t change = nr_bytes;

	if (has_image) {
		uint64_t foreign, used;

		pthread_mutex_lock(&segment->ledger_lock);
		foreign = foreign_bytes(segment, process);
		used = atomic_load_explicit(&its->used, memory_order_relaxed);
		change = own_of(used, foreign) - own_of(used - min(used, nr_bytes), foreign);
	}
	sub_levels(segment, climb_group(segment, process), change);
	atomic_fetch_sub_explicit(&its->used, nr_bytes, memory_order_seq_cst);
	if (has_image)
		pthread_mutex_unlock(&segment->ledger_lock);
}

/*
 * By how much usage falls: less than what is given back for who holds an image, whose frees wait
 * until this is over. Another's may change `used` meanwhile, which is read once.
 */
static uint64_t change_of_giving_back(const struct segment *segment, uint32_t process,
				      uint64_t nr_bytes)
{
	const struct shared_process *its = segment_process(segment, process);
	uint64_t used = atomic_load_explicit(&its->used, memory_order_relaxed);
	uint64_t foreign = foreign_bytes(segment, process);
	uint64_t own = min(own_of(used, foreign), COUNTER_USAGE_MAX);

	if (!atomic_load_explicit(&its->image, memory_order_relaxed))
		return min(own, nr_bytes);
	return own - min(own, own_of(used, min(foreign + nr_bytes, COUNTER_USAGE_MAX)));
}

void climb_give_back(struct segment *segment, uint32_t process, uint64_t nr_bytes)
{
	struct shared_process *its = segment_process(segment, process);
	uint64_t change = change_of_giving_back(segment, process, nr_bytes);

	/*
	 * The bytes and the round they were given back in are one word, which nobody else writes
	 * now: its process settles in flight. Release: who finds the round finds what was taken.
	 */
	atomic_store_explicit(
		&its->owed,
		(atomic_load_explicit(&its->owed, memory_order_relaxed) + (nr_bytes << 1)) ^ 1,
		memory_order_release);
	sub_levels(segment, climb_group(segment, process), change);
}

void climb_settle(struct segment *segment, uint32_t process, uint64_t nr_bytes)
{
	struct shared_process *its = segment_process(segment, process);

	pthread_mutex_lock(&segment->ledger_lock);
	/* In this order, so that what the process is said to have is never less than it has. */
	atomic_fetch_sub_explicit(&its->owed, nr_bytes << 1, memory_order_seq_cst);
	atomic_fetch_sub_explicit(&its->used, nr_bytes, memory_order_seq_cst);
	pthread_mutex_unlock(&segment->ledger_lock);
}

void climb_sub_own(struct segment *segment, uint32_t process)
{
	sub_levels(segment, climb_group(segment, process), climb_own(segment, process));
}

uint64_t climb_headroom(const struct segment *segment, uint32_t process, bool use_reserve)
{
	uint64_t headroom = UINT64_MAX;
	struct shared_group *group;

	for_each_level(segment, row, group, climb_group(segment, process))
	{
		uint64_t usage = atomic_load_explicit(&group->counter.usage, memory_order_relaxed);
		uint64_t limit = use_reserve ? atomic_load_explicit(&group->counter.max,
								    memory_order_relaxed)
					     : rest_of(group);

		limit = min(limit, COUNTER_USAGE_MAX);
		headroom = min(headroom, limit - min(limit, usage));
	}
	return headroom;
}

static bool refuses(const struct shared_group *group, enum bound bound, uint64_t nr_bytes)
{
	uint64_t at = atomic_load_explicit(&group->refused_at[bound], memory_order_acquire);
	uint64_t size = atomic_load_explicit(&group->refused_size[bound], memory_order_acquire);

	return size && nr_bytes >= size &&
	       at == atomic_load_explicit(&group->counter.nr_uncharges, memory_order_seq_cst) &&
	       at == atomic_load_explicit(&group->refused_at[bound], memory_order_relaxed);
}

/* By how much a charge would raise usage: less than its size for who holds an image. */
static uint64_t change_of(struct segment *segment, uint32_t process, uint64_t nr_bytes)
{
	const struct shared_process *its = segment_process(segment, process);
	uint64_t used, foreign;

	if (nr_bytes > COUNTER_USAGE_MAX ||
	    !atomic_load_explicit(&its->image, memory_order_relaxed))
		return nr_bytes;
	pthread_mutex_lock(&segment->ledger_lock);
	used = atomic_load_explicit(&its->used, memory_order_relaxed);
	foreign = foreign_bytes(segment, process);
	pthread_mutex_unlock(&segment->ledger_lock);
	return own_of(used + nr_bytes, foreign) - own_of(used, foreign);
}

uint32_t climb_refused(struct segment *segment, uint32_t process, uint64_t nr_bytes)
{
	struct shared_group *group;

	nr_bytes = change_of(segment, process, nr_bytes);
	for_each_level(segment, row, group, climb_group(segment, process))
	{
		if (refuses(group, UP_TO_MAX, nr_bytes))
			return row | ABOVE;
		if (refuses(group, BELOW_RESERVE, nr_bytes) &&
		    bound_at(segment, row, climb_own(segment, process), nr_bytes) == BELOW_RESERVE)
			return row | ABOVE;
	}
	return 0;
}

void climb_remember_refusal(struct segment *segment, uint32_t process, uint32_t group,
			    uint64_t nr_bytes, uint64_t nr_uncharges)
{
	struct shared_group *row = segment_group(segment, group);
	enum bound bound;

	nr_bytes = change_of(segment, process, nr_bytes);
	bound = bound_at(segment, group, climb_own(segment, process), nr_bytes);
	/* As counter_remember_refusal(): one writer, and release pairs with refuses(). */
	atomic_store_explicit(&row->refused_at[bound], 0, memory_order_relaxed);
	atomic_store_explicit(&row->refused_size[bound], nr_bytes, memory_order_release);
	atomic_store_explicit(&row->refused_at[bound], nr_uncharges, memory_order_release);
}
