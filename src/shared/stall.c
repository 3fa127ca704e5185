/* SPDX-License-Identifier: MIT */
/*
 * A word: when it changed last, in ticks, in the upper half; how many wait; and, lowest, how often
 * it was changed, so that who counts anew knows that nobody has changed it meanwhile.
 */
#include "shared/stall.h"

#include <sys/stat.h>

#include "base/system.h"
#include "shared/slot.h"
#include "shared/thread.h"
#include "shared/tree.h"

/* Times are told apart within 9 hours, which no wait lasts. */
#define TICK_US 16u

/* What a thread's row says. While it enters or leaves some words have it and some have not. */
enum stall { STALL_NONE, STALL_ENTERS, STALL_IS_IN, STALL_LEAVES };

static uint32_t now_ticks(void)
{
	return (uint32_t)(system_now_ns() / 1000 / TICK_US);
}

static uint64_t make_word(uint32_t ticks, uint32_t nr, uint32_t nr_changes)
{
	return (uint64_t)ticks << 32 | (nr & 0xffff) << 16 | (nr_changes & 0xffff);
}

static uint32_t nr_in(uint64_t word)
{
	return word >> 16 & 0xffff;
}

/* Changes a word from what it was to so many that wait, and adds the time since to the total. */
static bool change(struct shared_stall *stall, uint64_t word, uint32_t nr, uint32_t now)
{
	int32_t elapsed = (int32_t)(now - (uint32_t)(word >> 32));

	/* Of two that change it one after the other the second may have read the clock first. While
	 * nobody waits the time of the last change means nothing, and may be of any age. */
	if (elapsed < 0 && nr_in(word)) {
		now = (uint32_t)(word >> 32);
		elapsed = 0;
	}
	/* acq_rel: who finds a thread counted finds its row; partner: count_rows(). */
	if (!atomic_compare_exchange_strong_explicit(&stall->word, &word,
						     make_word(now, nr, (uint32_t)word + 1),
						     memory_order_acq_rel, memory_order_relaxed))
		return false;
	if (nr_in(word))
		atomic_fetch_add_explicit(&stall->nr_us, (uint64_t)elapsed * TICK_US,
					  memory_order_relaxed);
	return true;
}

static uint64_t read_word(const struct shared_stall *stall)
{
	return atomic_load_explicit(&stall->word, memory_order_acquire);
}

/* So many more or fewer: how many there are then. */
static uint32_t add(struct shared_stall *stall, int difference, uint32_t now)
{
	uint64_t word;
	uint32_t nr;

	do {
		word = read_word(stall);
		nr = (uint32_t)max((int)nr_in(word) + difference, 0);
	} while (!change(stall, word, min(nr, 0xffffu), now));
	return nr;
}

static void set(struct shared_stall *stall, bool is_full, uint32_t now)
{
	while (!change(stall, read_word(stall), is_full, now))
		continue;
}

/*
 * Are so many all threads of all processes below? Of a process that has not waited yet one is
 * known. Whether one is dead is asked only as long as the answer may still be yes.
 */
static bool are_all_below(const struct segment *segment, uint32_t group, uint32_t nr)
{
	uint32_t nr_threads = 0;

	for_each_process_row(segment, row)
	{
		const struct shared_process *its = segment_process(segment, row);
		uint32_t flags = atomic_load_explicit(&its->flags, memory_order_relaxed);

		if (!slot_is_leaf(segment, row) || flags & (PROCESS_WENT_ON | PROCESS_LEFT) ||
		    !tree_is_below(segment, atomic_load_explicit(&its->group, memory_order_relaxed),
				   group) ||
		    slot_is_dead(segment, row))
			continue;
		nr_threads += max(atomic_load_explicit(&its->nr_threads, memory_order_relaxed), 1u);
		if (nr_threads > nr)
			return false;
	}
	return nr;
}

/* ---- averages ---- */

static const bool none[AVERAGE_NR_STATES], some[AVERAGE_NR_STATES] = { [AVERAGE_SOME] = true },
					   all[AVERAGE_NR_STATES] = { true, true };

/*
 * What came to the totals since the last time was spread over it somehow, which is taken to be at
 * its beginning: whoever begins to wait or goes on brings this up to date, so that it is short.
 */
static void advance(struct average *average, const struct shared_group *group, uint64_t now_ns)
{
	uint64_t total_ns[NR_STALL_KINDS], from_ns = average->at_ns;
	uint64_t some_ns, full_ns, elapsed_ns = now_ns - from_ns;

	for (unsigned int i = 0; i < NR_STALL_KINDS; i++)
		total_ns[i] =
			1000 * atomic_load_explicit(&group->stalls[i].nr_us, memory_order_relaxed);
	some_ns = total_ns[STALL_SOME] - average->total_ns[AVERAGE_SOME];
	full_ns = total_ns[STALL_FULL] - average->total_ns[AVERAGE_FULL];
	/* More than the time there was is what two that read the clock differ by, or nonsense. */
	some_ns = min(some_ns, elapsed_ns);
	full_ns = min(full_ns, some_ns);
	average_advance(average, all, from_ns + full_ns);
	average_advance(average, some, from_ns + some_ns);
	average_advance(average, none, now_ns);
	average->total_ns[AVERAGE_SOME] = total_ns[STALL_SOME];
	average->total_ns[AVERAGE_FULL] = total_ns[STALL_FULL];
}

/* With the words up to date. Nobody waits for who does the same: then it is a moment late. */
static void bring_up_to_date(const struct segment *segment, struct shared_group *group)
{
	uint64_t now = system_now_ns();
	uint32_t nobody = 0;
	struct average average;

	/* acquire: pairs with the release of who had it before. */
	if (!atomic_compare_exchange_strong_explicit(&group->averaging, &nobody, segment->process,
						     memory_order_acquire, memory_order_relaxed))
		return;
	average = group->average;
	if (!average.at_ns)
		average_init(&average, now);
	if (now > average.at_ns)
		advance(&average, group, now);
	group->average = average;
	atomic_store_explicit(&group->averaging, 0, memory_order_release);
}

/* ---- who waits ---- */

/* From a process's group upwards: so many more wait, or fewer. */
static void add_upwards(struct segment *segment, uint32_t process, int difference)
{
	uint32_t row = atomic_load_explicit(&segment_process(segment, process)->group,
					    memory_order_relaxed);
	struct shared_group *group;

	for (unsigned int level = 0; level <= SEGMENT_MAX_DEPTH; level++) {
		uint32_t now = now_ticks(), nr;

		group = segment_group(segment, row);
		if (!group)
			return;
		nr = add(&group->stalls[STALL_SOME], difference, now);
		set(&group->stalls[STALL_FULL], are_all_below(segment, row, nr), now);
		bring_up_to_date(segment, group);
		row = atomic_load_explicit(&group->counter.parent, memory_order_relaxed);
	}
}

/* The calling process's; its folder has two links besides. */
static void note_threads(struct shared_process *its)
{
	struct stat tasks;

	if (!stat("/proc/self/task", &tasks) && tasks.st_nlink > 2)
		atomic_store_explicit(&its->nr_threads, (uint32_t)tasks.st_nlink - 2,
				      memory_order_relaxed);
}

bool stall_begin(struct segment *segment, uint32_t thread)
{
	struct shared_thread *its = segment_thread(segment, thread);
	uint32_t process = its ? atomic_load_explicit(&its->process, memory_order_relaxed) : 0;

	if (!segment_process(segment, process) ||
	    atomic_load_explicit(&its->stall, memory_order_relaxed) != STALL_NONE)
		return false;
	note_threads(segment_process(segment, process));
	/* release, with what follows: who finds it counted finds this; partner: count_rows(). */
	atomic_store_explicit(&its->stall, STALL_ENTERS, memory_order_release);
	add_upwards(segment, process, 1);
	atomic_store_explicit(&its->stall, STALL_IS_IN, memory_order_release);
	return true;
}

void stall_end(struct segment *segment, uint32_t thread)
{
	struct shared_thread *its = segment_thread(segment, thread);
	uint32_t process = its ? atomic_load_explicit(&its->process, memory_order_relaxed) : 0;

	/* A signal handler that came in between may have ended it. */
	if (!segment_process(segment, process) ||
	    atomic_load_explicit(&its->stall, memory_order_relaxed) != STALL_IS_IN)
		return;
	atomic_store_explicit(&its->stall, STALL_LEAVES, memory_order_release);
	add_upwards(segment, process, -1);
	atomic_store_explicit(&its->stall, STALL_NONE, memory_order_release);
}

/* Threads whose rows say that they wait; false if one is just entering or leaving. */
static bool count_rows(const struct segment *segment, uint32_t group, uint32_t *ret_nr)
{
	uint32_t nr = 0;

	for_each_row(segment, REGION_THREADS, row)
	{
		const struct shared_thread *its = segment_thread(segment, row);
		uint32_t stall = atomic_load_explicit(&its->stall, memory_order_acquire);
		const struct shared_process *process = segment_process(
			segment, atomic_load_explicit(&its->process, memory_order_relaxed));

		if (stall == STALL_NONE || !process ||
		    !tree_is_below(segment,
				   atomic_load_explicit(&process->group, memory_order_relaxed),
				   group))
			continue;
		if (stall != STALL_IS_IN)
			return false;
		nr++;
	}
	*ret_nr = nr;
	return true;
}

static void recount(const struct segment *segment, uint32_t group)
{
	struct shared_stall *some = &segment_group(segment, group)->stalls[STALL_SOME];
	struct shared_stall *full = &segment_group(segment, group)->stalls[STALL_FULL];
	/* Before the rows are counted: one that enters or leaves meanwhile changes it. */
	uint64_t word = read_word(some);
	uint32_t now = now_ticks(), nr;

	if (!nr_in(word) && !nr_in(read_word(full)))
		return;
	if (tree_is_live(segment, group) && count_rows(segment, group, &nr) &&
	    change(some, word, nr, now))
		set(full, are_all_below(segment, group, nr), now);
}

void stall_recount(struct segment *segment)
{
	for_each_group_row(segment, row) recount(segment, row);
}

struct average stall_average(const struct segment *segment, uint32_t group)
{
	struct shared_group *row = segment_group(segment, group);
	uint32_t now;

	recount(segment, group);
	now = now_ticks();
	for (unsigned int i = 0; i < NR_STALL_KINDS; i++)
		add(&row->stalls[i], 0, now);
	bring_up_to_date(segment, row);
	return row->average;
}
