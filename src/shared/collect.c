/* SPDX-License-Identifier: MIT */
#include "shared/collect.h"

#include "charge/barrier.h"
#include "charge/closing.h"
#include "charge/pause.h"
#include "shared/chunk.h"
#include "shared/climb.h"
#include "shared/slot.h"
#include "shared/thread.h"
#include "shared/tree.h"

/* Every row of words of a process, no more steps than there are chunks. */
#define for_each_words(segment, process, words)                                                    \
	for (uint32_t chunk_ = first_chunk(segment, process), nr_chunks_ = 0;                      \
	     chunk_ && nr_chunks_ < (segment)->nr_rows[REGION_CHUNK_HEADS];                        \
	     chunk_ = next_chunk(segment, chunk_), nr_chunks_++)                                   \
		for (uint32_t index_ = 0; ((words) = chunk_words(segment, chunk_, index_));        \
		     index_++)

static uint32_t first_chunk(const struct segment *segment, uint32_t process)
{
	/* seq_cst: pairs with publish() in chunk.c. */
	return atomic_load_explicit(&segment_process(segment, process)->first_chunk,
				    memory_order_seq_cst);
}

static uint32_t next_chunk(const struct segment *segment, uint32_t row)
{
	const struct shared_chunk *chunk = segment_chunk(segment, row);

	return chunk ? atomic_load_explicit(&chunk->next, memory_order_relaxed) : 0;
}

static bool is_to_be_collected(const struct segment *segment, uint32_t process, uint32_t group)
{
	const struct shared_process *its = segment_process(segment, process);
	uint32_t its_group = atomic_load_explicit(&its->group, memory_order_relaxed);

	return slot_state(its) != PROCESS_FREE && its_group &&
	       tree_is_below(segment, its_group, group) && first_chunk(segment, process) &&
	       !thread_is_stalled(segment, process);
}

static uint32_t next_stamp(const struct segment *segment, uint32_t process)
{
	return !(atomic_load_explicit(&segment_process(segment, process)->owed,
				      memory_order_acquire) &
		 1);
}

static uint32_t state_of(const struct stock_words *words)
{
	/* relaxed: that the owner has landed was seen before. */
	return atomic_load_explicit(&words->state, memory_order_relaxed);
}

/* Before the barrier. Return: is anything to be given back? */
static bool take_process(struct segment *segment, uint32_t process)
{
	uint32_t stamp = next_stamp(segment, process);
	struct stock_words *words;
	bool any = false;

	for_each_words(segment, process, words)
	{
		if (state_of(words) == STOCK_TAKEN && words->stamp == !stamp)
			/* Of the last round: said for good, before the round changes. */
			atomic_store_explicit(&words->state, STOCK_GIVEN, memory_order_relaxed);
		if (closing_is_needed(words))
			closing_take(words, stamp);
		any |= closing_is_needed(words) ||
		       (state_of(words) == STOCK_TAKEN && words->stamp == stamp);
	}
	return any;
}

/* After the barrier. False: its thread is stopped in the middle of something, and it keeps all. */
static bool wait_closed(struct segment *segment, uint32_t process, struct stock_words *words)
{
	int64_t start_ns = 0;

	for (unsigned int round = 0; !closing_is_over(words); round++) {
		if (pause_is_look(round)) {
			if (words->stuck || slot_is_dead(segment, process))
				return false;
			if (pause_is_stalled(&start_ns)) {
				/* Until its owner settles; nobody waits a second for it again. */
				words->stuck = 1;
				return false;
			}
		}
		pause_briefly(round);
		closing_take(words, words->stamp);
		if (!barrier_all_processes())
			return false;
	}
	return true;
}

static bool give_back_for(struct segment *segment, uint32_t process)
{
	uint32_t stamp = next_stamp(segment, process);
	uint64_t nr_bytes = 0, its_bytes;
	struct stock_words *words;
	bool all = true;

	for_each_words(segment, process, words)
	{
		/* One that was taken by a closer who died counts as well. */
		if (closing_is_needed(words)) {
			if (!wait_closed(segment, process, words)) {
				all = false;
				continue;
			}
			closing_end(words, &its_bytes);
		} else if (state_of(words) != STOCK_TAKEN || words->stamp != stamp) {
			continue;
		}
		nr_bytes += min(closing_bytes(words), COUNTER_USAGE_MAX - nr_bytes);
	}
	climb_give_back(segment, process, nr_bytes);
	return all;
}

bool collect_below(struct segment *segment, uint32_t group, uint32_t but)
{
	bool any = false, all = true;

	for_each_process_row(segment, row)
	{
		if (row != but && is_to_be_collected(segment, row, group))
			any |= take_process(segment, row);
	}
	if (!any)
		return true;
	/* Without it nothing is known of what was closed: the owners open it again. */
	if (!barrier_all_processes())
		return false;
	for_each_process_row(segment, row)
	{
		if (row != but && is_to_be_collected(segment, row, group))
			all &= give_back_for(segment, row) || slot_is_dead(segment, row);
	}
	return all;
}
