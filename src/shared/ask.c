/* SPDX-License-Identifier: MIT */
#include "shared/ask.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system.h"
#include "charge/pause.h"
#include "reclaim/protection.h"
#include "shared/climb.h"
#include "shared/event.h"
#include "shared/slot.h"
#include "shared/tree.h"

/* A round of pause_briefly() that sleeps, for 50 us and more. */
#define ROUNDS_SLEPT 1024u

/* Nobody is woken for less. */
#define ASK_MIN_BYTES 4096u

/* What is to be given back by whom. */
struct asking {
	struct segment *segment;
	uint32_t but, group;
	bool breaches_low; /* only min is spared */
};

/* relaxed, throughout: numbers that change all the time, and settings. */
#define read_relaxed(word) atomic_load_explicit(&(word), memory_order_relaxed)

/* Of a number that may be no group's by now. */
static uint64_t usage_of(const struct segment *segment, uint32_t group)
{
	const struct shared_group *row = segment_group(segment, group);

	return row ? read_relaxed(row->counter.usage) : 0;
}

/* ---- protection ---- */

typedef uint64_t (*setting_of)(const struct shared_group *group);

static uint64_t min_of(const struct shared_group *group)
{
	return read_relaxed(group->min);
}

static uint64_t low_of(const struct shared_group *group)
{
	return read_relaxed(group->low);
}

static uint64_t used_of(const struct shared_group *group, setting_of setting)
{
	return protection_used(read_relaxed(group->counter.usage), setting(group));
}

static uint64_t used_by_children(const struct segment *segment, uint32_t parent, setting_of setting)
{
	uint64_t nr_bytes = 0;

	for_each_group_row(segment, row)
	{
		if (tree_is_live(segment, row) && tree_parent(segment, row) == parent)
			nr_bytes += used_of(segment_group(segment, row), setting);
	}
	return nr_bytes;
}

/* From the child of the top that is on the way down to the group itself. */
static uint64_t effective(const struct asking *asking, uint32_t group, setting_of setting)
{
	uint32_t path[SEGMENT_MAX_DEPTH];
	unsigned int depth = 0;
	uint64_t nr_bytes;

	/* The number of a process's group is checked here; tree_parent() gives rows only. */
	for (; segment_group(asking->segment, group) && group != asking->group &&
	       depth < SEGMENT_MAX_DEPTH;
	     depth++) {
		path[depth] = group;
		group = tree_parent(asking->segment, group);
	}
	if (!depth)
		return 0;
	nr_bytes = setting(segment_group(asking->segment, path[--depth]));
	while (depth--) {
		const struct shared_group *row = segment_group(asking->segment, path[depth]);

		nr_bytes = protection_effective(
			used_of(row, setting),
			used_by_children(asking->segment, path[depth + 1], setting), nr_bytes);
	}
	return nr_bytes;
}

/* What a process is to give back of what it holds. */
static uint64_t part_of(const struct asking *asking, uint32_t process)
{
	const struct shared_process *its = segment_process(asking->segment, process);
	uint32_t group = read_relaxed(its->group);
	uint64_t usage, min, low;

	if (!read_relaxed(its->can_reclaim) || process == asking->but ||
	    !slot_is_leaf(asking->segment, process) ||
	    !tree_is_below(asking->segment, group, asking->group))
		return 0;
	usage = usage_of(asking->segment, group);
	min = effective(asking, group, min_of);
	low = effective(asking, group, low_of);
	if (group == asking->group)
		return climb_own(asking->segment, process);
	if (usage <= min || (usage <= low && !asking->breaches_low))
		return 0;
	return protection_part(climb_own(asking->segment, process), usage,
			       asking->breaches_low ? min : max(min, low));
}

/* ---- requests ---- */

static void ask(struct shared_process *its, uint64_t nr_bytes)
{
	int saved_errno = errno;

	atomic_fetch_add_explicit(&its->reclaim_wanted, nr_bytes, memory_order_relaxed);
	/* release: who finds it asked finds how much is wanted; partner: serve.c. */
	atomic_fetch_add_explicit(&its->reclaim_asked, 1, memory_order_release);
	syscall(SYS_futex, &its->reclaim_asked, FUTEX_WAKE, 1, NULL, NULL, 0);
	errno = saved_errno;
}

/* How many were asked. */
static unsigned int ask_all(const struct asking *asking, uint64_t nr_bytes)
{
	struct segment *segment = asking->segment;
	unsigned __int128 nr_parts = 0;
	unsigned int nr_asked = 0;

	for_each_process_row(segment, row) nr_parts += part_of(asking, row);
	if (!nr_parts)
		return 0;
	for_each_process_row(segment, row)
	{
		struct shared_process *its = segment_process(segment, row);
		uint32_t group = read_relaxed(its->group);
		uint64_t part = part_of(asking, row);

		if (!part)
			continue;
		part = min(part, (uint64_t)((unsigned __int128)nr_bytes * part / nr_parts));
		if (asking->breaches_low && group != asking->group &&
		    usage_of(segment, group) <= effective(asking, group, low_of))
			event_count(segment, group, SHARED_EVENT_LOW);
		ask(its, max(part, (uint64_t)ASK_MIN_BYTES));
		nr_asked++;
	}
	return nr_asked;
}

/* Has somebody been asked who has not answered yet? The dead do not answer. */
static bool is_any_awaited(const struct asking *asking, bool looks)
{
	struct segment *segment = asking->segment;

	for_each_process_row(segment, row)
	{
		const struct shared_process *its = segment_process(segment, row);

		/* acquire: pairs with serve.c, for what was given back. */
		if (read_relaxed(its->can_reclaim) && row != asking->but &&
		    slot_is_leaf(segment, row) &&
		    tree_is_below(segment, read_relaxed(its->group), asking->group) &&
		    atomic_load_explicit(&its->reclaim_served, memory_order_acquire) !=
			    read_relaxed(its->reclaim_asked) &&
		    !(looks && slot_is_dead(segment, row)))
			return true;
	}
	return false;
}

/*
 * Nobody asks it again until it has come back to say that it serves. If it says so just now, that
 * must not be lost. seq_cst, all: either the answer is seen here, or what serve.c stores after it
 * is the later.
 */
static void give_up_on(struct shared_process *its)
{
	atomic_store_explicit(&its->can_reclaim, 0, memory_order_seq_cst);
	if (atomic_load_explicit(&its->reclaim_served, memory_order_seq_cst) ==
	    read_relaxed(its->reclaim_asked))
		atomic_store_explicit(&its->can_reclaim, 1, memory_order_seq_cst);
}

static void give_up_on_awaited(const struct asking *asking)
{
	struct segment *segment = asking->segment;

	for_each_process_row(segment, row)
	{
		struct shared_process *its = segment_process(segment, row);

		if (row != asking->but && read_relaxed(its->can_reclaim) &&
		    tree_is_below(segment, read_relaxed(its->group), asking->group) &&
		    read_relaxed(its->reclaim_served) != read_relaxed(its->reclaim_asked))
			give_up_on(its);
	}
}

static uint64_t nr_reclaimed(const struct asking *asking)
{
	uint64_t nr_bytes = 0;

	for_each_process_row(asking->segment, row)
	{
		const struct shared_process *its = segment_process(asking->segment, row);

		if (row != asking->but &&
		    tree_is_below(asking->segment, read_relaxed(its->group), asking->group))
			nr_bytes += read_relaxed(its->nr_reclaimed);
	}
	return nr_bytes;
}

uint64_t ask_below(struct segment *segment, uint32_t but, uint32_t group, uint64_t nr_bytes,
		   uint64_t deadline_ns)
{
	struct asking asking = { .segment = segment, .but = but, .group = group };
	uint64_t before = nr_reclaimed(&asking), after;

	if (!ask_all(&asking, nr_bytes)) {
		asking.breaches_low = true;
		if (!ask_all(&asking, nr_bytes))
			return 0;
	}
	for (unsigned int round = 0; is_any_awaited(&asking, pause_is_look(round)); round++) {
		if (system_now_ns() >= deadline_ns) {
			give_up_on_awaited(&asking);
			break;
		}
		pause_briefly(ROUNDS_SLEPT);
	}
	after = nr_reclaimed(&asking);
	/* A process may have ended, or its row be another's. */
	return after > before ? after - before : 0;
}
