/* SPDX-License-Identifier: MIT */
#include "shared/recovery.h"

#include <errno.h>

#include "charge/pause.h"
#include "shared/chunk.h"
#include "shared/claim.h"
#include "shared/climb.h"
#include "shared/image.h"
#include "shared/slot.h"
#include "shared/stall.h"
#include "shared/thread.h"
#include "shared/tree.h"

/* Who was dead when nobody was in flight any more: the same for all that follows. */
struct dead {
	uint64_t bits[SEGMENT_MAX_PROCESSES / 64];
};

static bool is_dead(const struct dead *dead, uint32_t process)
{
	return dead->bits[process / 64] >> (process % 64) & 1;
}

static uint32_t state_of(const struct segment *segment, uint32_t process)
{
	return atomic_load_explicit(&segment_process(segment, process)->state,
				    memory_order_acquire);
}

static void find_dead(struct segment *segment, struct dead *dead)
{
	*dead = (struct dead){ 0 };
	for_each_process_row(segment, row)
	{
		if (state_of(segment, row) == PROCESS_FREE || !slot_condemn(segment, row))
			continue;
		dead->bits[row / 64] |= (uint64_t)1 << (row % 64);
	}
}

/* Living processes that hold an image, but no more than two are counted. */
static unsigned int nr_holders(const struct segment *segment, uint32_t image,
			       const struct dead *dead)
{
	unsigned int nr = 0;

	for_each_process_row(segment, row)
	{
		if (nr < 2 && !(dead && is_dead(dead, row)) && image_is_held(segment, image, row))
			nr++;
	}
	return nr;
}

static bool is_unshared(const struct segment *segment, uint32_t row)
{
	const struct shared_image *image = segment_image(segment, row);

	return atomic_load_explicit(&image->state, memory_order_acquire) == ROW_LIVE &&
	       !atomic_load_explicit(&image->merged, memory_order_relaxed) &&
	       nr_holders(segment, row, NULL) < 2;
}

bool recovery_is_due(const struct segment *segment, uint32_t group)
{
	if (slot_first_dead(segment, group))
		return true;
	for_each_row(segment, REGION_IMAGES, row)
	{
		if (is_unshared(segment, row))
			return true;
	}
	return false;
}

/* 0; -EAGAIN if another living process recovers. */
static int take_over(struct segment *segment)
{
	uint32_t holder = 0;

	for (;;) {
		/* seq_cst: a store before the loads of flights; partner: climb_is_recovering(). */
		if (atomic_compare_exchange_strong_explicit(&segment->header->recovering, &holder,
							    segment->process, memory_order_seq_cst,
							    memory_order_seq_cst))
			return 0;
		if (segment_process(segment, holder) && !slot_is_dead(segment, holder))
			return -EAGAIN;
	}
}

static void settle_images(struct segment *segment, const struct dead *dead)
{
	for_each_row(segment, REGION_IMAGES, row)
	{
		struct shared_image *image = segment_image(segment, row);
		uint32_t state = atomic_load_explicit(&image->state, memory_order_acquire);
		uint32_t maker = row_state_maker(state);
		unsigned int nr;

		if (maker && segment_process(segment, maker) &&
		    state_of(segment, maker) != PROCESS_FREE && !is_dead(dead, maker))
			continue;
		if (state != ROW_LIVE) {
			claim_end(&image->state);
			continue;
		}
		nr = nr_holders(segment, row, dead);
		/* One store: from here on its bytes are its only holder's own. */
		if (nr == 1)
			atomic_store_explicit(&image->merged, 1, memory_order_release);
	}
}

/* The rows of those that nobody holds, after usage was summed without them. */
static void free_images(struct segment *segment, const struct dead *dead)
{
	for_each_row(segment, REGION_IMAGES, row)
	{
		struct shared_image *image = segment_image(segment, row);

		if (atomic_load_explicit(&image->state, memory_order_relaxed) == ROW_LIVE &&
		    !nr_holders(segment, row, dead))
			claim_end(&image->state);
	}
}

static void add_up(const struct segment *segment, uint32_t group, uint64_t nr_bytes)
{
	for (unsigned int level = 0; group && level <= SEGMENT_MAX_DEPTH; level++) {
		struct shared_group *row = segment_group(segment, group);

		if (!row)
			return;
		row->sum = min(row->sum + nr_bytes, COUNTER_USAGE_MAX);
		group = atomic_load_explicit(&row->counter.parent, memory_order_relaxed);
	}
}

/* Each group's usage is what the ledgers of the living, and the images they hold, say. */
static void sum_ledgers(struct segment *segment, const struct dead *dead)
{
	for_each_group_row(segment, row) segment_group(segment, row)->sum = 0;
	for_each_process_row(segment, row)
	{
		struct shared_process *its = segment_process(segment, row);

		if (state_of(segment, row) != PROCESS_FREE && !is_dead(dead, row))
			add_up(segment, atomic_load_explicit(&its->group, memory_order_relaxed),
			       climb_own(segment, row));
	}
	for_each_row(segment, REGION_IMAGES, row)
	{
		struct shared_image *image = segment_image(segment, row);

		if (atomic_load_explicit(&image->state, memory_order_relaxed) == ROW_LIVE &&
		    !atomic_load_explicit(&image->merged, memory_order_relaxed) &&
		    nr_holders(segment, row, dead))
			add_up(segment, atomic_load_explicit(&image->group, memory_order_relaxed),
			       atomic_load_explicit(&image->nr_bytes, memory_order_relaxed));
	}
	for_each_group_row(segment, row)
	{
		struct shared_group *group = segment_group(segment, row);
		uint32_t state = atomic_load_explicit(&group->state, memory_order_relaxed);

		if (state != ROW_LIVE && state != ROW_DYING)
			continue;
		atomic_store_explicit(&group->counter.usage, group->sum, memory_order_seq_cst);
		counter_more_may_fit(&group->counter);
	}
}

/* A word that names who holds it: nobody, if that one is dead, or no process at all. */
static void release_for(struct segment *segment, _Atomic uint32_t *word, const struct dead *dead)
{
	uint32_t holder = atomic_load_explicit(word, memory_order_relaxed);

	if (holder && (!segment_process(segment, holder) || is_dead(dead, holder) ||
		       state_of(segment, holder) == PROCESS_FREE))
		atomic_compare_exchange_strong_explicit(word, &holder, 0, memory_order_release,
							memory_order_relaxed);
}

static void thaw_for(struct segment *segment, const struct dead *dead)
{
	for_each_group_row(segment, row)
	{
		struct shared_group *group = segment_group(segment, row);

		release_for(segment, &group->counter.frozen, dead);
		release_for(segment, &group->averaging, dead);
	}
}

/* Whoever gets the row of a dead supervisor next is not in flight for those that it accounted. */
static void orphan(struct segment *segment, const struct dead *dead)
{
	for_each_process_row(segment, row)
		release_for(segment, &segment_process(segment, row)->claimer, dead);
}

static void forget(struct segment *segment, const struct dead *dead)
{
	for_each_process_row(segment, row)
	{
		if (is_dead(dead, row)) {
			thread_free_all(segment, row);
			chunk_free_all(segment, row);
			if (slot_has_gone_on(segment, row))
				slot_keep_place(segment, row);
			else
				slot_free(segment, row);
		}
	}
}

static int recover(struct segment *segment)
{
	struct dead dead;
	int r = thread_wait_landed(segment, 0, 0);

	if (r)
		return r;
	find_dead(segment, &dead);
	settle_images(segment, &dead);
	sum_ledgers(segment, &dead);
	/* Before the dead are forgotten: who asks whether anybody is dead afterwards looks here. */
	atomic_fetch_add_explicit(&segment->header->nr_recoveries, 1, memory_order_seq_cst);
	thaw_for(segment, &dead);
	free_images(segment, &dead);
	orphan(segment, &dead);
	forget(segment, &dead);
	stall_recount(segment);
	return 0;
}

/*
 * Somebody who lives, as far as is known from the last look: that costs more than to wait. Asked
 * before whether anything is due, or all who wait would ask about all processes, again and again,
 * and whoever is in flight would get no processor.
 */
static bool another_recovers(const struct segment *segment, unsigned int round)
{
	/* relaxed: a hint; take_over() decides. */
	uint32_t holder = atomic_load_explicit(&segment->header->recovering, memory_order_relaxed);

	return holder && segment_process(segment, holder) &&
	       (round % PAUSE_ROUNDS_A_LOOK || !slot_is_dead(segment, holder));
}

static int try_recover(struct segment *segment, bool always, unsigned int round)
{
	int r = 0;

	if (another_recovers(segment, round))
		return -EAGAIN;
	pthread_mutex_lock(&segment->lock);
	if (always || recovery_is_due(segment, 0)) {
		r = take_over(segment);
		if (!r) {
			r = recover(segment);
			/* release: who finds it clear sees what was set right. */
			atomic_store_explicit(&segment->header->recovering, 0,
					      memory_order_release);
		}
	}
	pthread_mutex_unlock(&segment->lock);
	return r;
}

/* Whoever else recovers may have looked before the last one died: so it is tried again. */
int recovery_run(struct segment *segment, bool always)
{
	int r;

	for (unsigned int round = 0; (r = try_recover(segment, always, round)) == -EAGAIN; round++)
		pause_briefly(round);
	return r;
}

void recovery_of_holder(struct segment *segment, uint32_t holder)
{
	if (!segment_process(segment, holder) || state_of(segment, holder) == PROCESS_FREE)
		/* Nobody's number: nobody is dead, but all that has no holder is thawed. */
		recovery_run(segment, true);
	else if (slot_is_dead(segment, holder))
		recovery_run(segment, false);
}
