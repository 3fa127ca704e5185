/* SPDX-License-Identifier: MIT */
#include "reclaim/holdings.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "group/group.h"
#include "reclaim/asking.h"
#include "reclaim/lru.h"
#include "reclaim/shrinker.h"

#define NR_HOLDINGS_MAX (1u << 24)

/* What a group that is being destroyed names in place of a row. */
#define HOLDINGS_GONE UINT32_MAX

struct table holdings_table;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void holdings_lock(void)
{
	pthread_mutex_lock(&lock);
}

void holdings_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* Something that is waited for has ended. */
static pthread_cond_t changed;

static void init_changed(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &attr);
	pthread_condattr_destroy(&attr);
}

void holdings_wait(uint64_t deadline_ns)
{
	struct timespec deadline = {
		.tv_sec = (time_t)(deadline_ns / 1000000000u),
		.tv_nsec = (long)(deadline_ns % 1000000000u),
	};
	int cancel_state;

	/* A thread that is cancelled there would leave the lock taken. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	if (deadline_ns == UINT64_MAX)
		pthread_cond_wait(&changed, &lock);
	else
		pthread_cond_timedwait(&changed, &lock, &deadline);
	pthread_setcancelstate(cancel_state, NULL);
}

void holdings_wake(void)
{
	pthread_cond_broadcast(&changed);
}

void holdings_forget_others(void)
{
	init_changed();
	asking_forget_others();
	shrinker_forget_others();
	lru_forget_others();
}

/* Written under the lock. Relaxed: who looks without it may be late. */
static void set_row(struct umemcg *group, uint32_t row)
{
	atomic_store_explicit(&group->holdings, row, memory_order_relaxed);
}

uint32_t holdings_of(const struct umemcg *group)
{
	uint32_t row = atomic_load_explicit(&group->holdings, memory_order_relaxed);

	return row == HOLDINGS_GONE ? 0 : row;
}

static uint32_t create(const struct umemcg *group)
{
	uint32_t row;

	if (!holdings_table.rows &&
	    table_init(&holdings_table, sizeof(struct holdings), NR_HOLDINGS_MAX, NULL))
		return 0;
	row = table_get(&holdings_table);
	if (row)
		*holdings_row(row) = (struct holdings){ .group = group->id, .nr_refs = 1 };
	return row;
}

int holdings_get(struct umemcg *group, uint32_t *ret_row)
{
	uint32_t row = atomic_load_explicit(&group->holdings, memory_order_relaxed);

	if (!group_is_live(group) || row == HOLDINGS_GONE)
		return -EINVAL;
	if (!row) {
		row = create(group);
		if (!row)
			return -ENOMEM;
		set_row(group, row);
	}
	holdings_row(row)->nr_refs++;
	*ret_row = row;
	return 0;
}

void holdings_put(uint32_t row)
{
	while (row && !--holdings_row(row)->nr_refs) {
		uint32_t heir = holdings_row(row)->heir;

		table_put(&holdings_table, row);
		row = heir;
	}
}

uint32_t holdings_live(uint32_t *row)
{
	uint32_t live = *row;

	while (holdings_row(live)->heir)
		live = holdings_row(live)->heir;
	if (live != *row) {
		holdings_row(live)->nr_refs++;
		holdings_put(*row);
		*row = live;
	}
	return live;
}

/* Called with the tree locked, when nothing can be charged to the group any more. */
static void bequeath(struct umemcg *group, struct umemcg *parent)
{
	uint32_t row, heir;

	holdings_lock();
	row = holdings_of(group);
	heir = holdings_of(parent);
	set_row(group, HOLDINGS_GONE);
	if (row && !heir) {
		holdings_row(row)->group = parent->id;
		set_row(parent, row);
	} else if (row) {
		shrinker_bequeath(holdings_row(row), holdings_row(heir));
		lru_bequeath(holdings_row(row), holdings_row(heir));
		holdings_row(row)->group = 0;
		holdings_row(row)->heir = heir;
		holdings_row(heir)->nr_refs++;
		holdings_put(row);
	}
	holdings_unlock();
}

void holdings_init(void)
{
	static struct group_bequest bequest = { .bequeath = bequeath };

	init_changed();
	group_add_bequest(&bequest);
}
