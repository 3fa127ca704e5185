/* SPDX-License-Identifier: MIT */
#include "group/failure.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "base/report.h"
#include "charge/above.h"
#include "charge/charge.h"
#include "charge/owner.h"
#include "group/event.h"
#include "group/group.h"

static _Atomic uint64_t nr_failures;
static thread_local_fast struct umemcg_failure last_failure;

unsigned int group_largest(const struct umemcg *group,
			   struct failure_consumer ret[UMEMCG_NR_CONSUMERS])
{
	const struct candidates *candidates = counter_candidates(group_counter(group));
	unsigned int nr = 0;

	for (unsigned int i = 0; i < COUNTER_NR_CANDIDATES; i++) {
		uint32_t id = atomic_load_explicit(&candidates->ids[i], memory_order_relaxed);
		unsigned int place = nr;
		uint64_t usage;

		if (!id)
			continue;
		usage = atomic_load_explicit(&counter_row(id)->usage, memory_order_relaxed);
		while (place && ret[place - 1].nr_bytes < usage)
			place--;
		if (!usage || place == UMEMCG_NR_CONSUMERS)
			continue;
		nr = min(nr + 1, (unsigned int)UMEMCG_NR_CONSUMERS);
		memmove(&ret[place + 1], &ret[place], (nr - 1 - place) * sizeof(*ret));
		ret[place] = (struct failure_consumer){ .group = id, .nr_bytes = usage };
	}
	return nr;
}

/* A path that is too long loses its beginning: its end tells more. */
static void copy_path(const struct umemcg *group, char *buffer, size_t size)
{
	char path[UMEMCG_PATH_MAX];
	size_t length = min(group_path_locked(group, path, sizeof(path)), sizeof(path) - 1);
	size_t cut = length < size ? 0 : length - size + 1;

	memcpy(buffer, path + cut, length - cut + 1);
	if (cut)
		memcpy(buffer, "...", 3);
}

/* All but the sequence. */
static void describe(const struct umemcg *full, const struct umemcg *charged, uint64_t nr_bytes,
		     struct umemcg_failure *failure)
{
	struct failure_consumer consumers[UMEMCG_NR_CONSUMERS];
	struct counter *counter = group_counter(full);

	failure->nr_bytes_asked = nr_bytes;
	failure->nr_bytes_max = atomic_load_explicit(&counter->max, memory_order_relaxed);
	failure->nr_bytes_current = atomic_load_explicit(&counter->usage, memory_order_relaxed);
	copy_path(full, failure->group, sizeof(failure->group));
	copy_path(charged, failure->charged, sizeof(failure->charged));
	failure->nr_consumers = group_largest(full, consumers);
	for (unsigned int i = 0; i < failure->nr_consumers; i++) {
		copy_path(group_row(consumers[i].group), failure->consumers[i].group,
			  sizeof(failure->consumers[i].group));
		failure->consumers[i].nr_bytes = consumers[i].nr_bytes;
	}
}

static void record(const struct umemcg *full, const struct umemcg *charged, uint64_t nr_bytes)
{
	last_failure.sequence =
		1 + atomic_fetch_add_explicit(&nr_failures, 1, memory_order_relaxed);
	describe(full, charged, nr_bytes, &last_failure);
}

/* By a level of the shared tree, which has its own events; its consumers are processes. */
static void record_above(uint32_t at, const struct umemcg *charged, uint64_t nr_bytes)
{
	struct umemcg_failure *failure = &last_failure;

	failure->sequence = 1 + atomic_fetch_add_explicit(&nr_failures, 1, memory_order_relaxed);
	failure->nr_bytes_asked = nr_bytes;
	failure->nr_consumers = 0;
	failure->nr_bytes_max = failure->nr_bytes_current = 0;
	failure->group[0] = '\0';
	copy_path(charged, failure->charged, sizeof(failure->charged));
	charge_above->tell(at, nr_bytes, failure->group, sizeof(failure->group),
			   &failure->nr_bytes_max, &failure->nr_bytes_current);
}

static bool tell_locked(const struct refusal *refusal, bool is_counted)
{
	struct umemcg *full;

	if (refusal->at & ABOVE) {
		record_above(refusal->at, group_of_owner(refusal->owner), refusal->nr_bytes);
		return true;
	}
	full = group_row(refusal->at);
	/* A group that has taken the row since is told instead, and counts a refusal too many. */
	if (!group_is_live(full))
		return false;
	if (!is_counted)
		group_event(full, UMEMCG_EVENT_OOM);
	record(full, group_of_owner(refusal->owner), refusal->nr_bytes);
	/* The process's own limit, where it is a leaf of a shared tree. */
	if (charge_above && full == group_root())
		charge_above->tell(ABOVE, refusal->nr_bytes, NULL, 0, NULL, NULL);
	return true;
}

bool failure_tell(const struct refusal *refusal, bool is_counted)
{
	bool is_told;

	group_lock();
	is_told = tell_locked(refusal, is_counted);
	group_unlock();
	return is_told;
}

bool failure_describe(const struct refusal *refusal, bool is_counted,
		      struct umemcg_failure *ret_failure)
{
	struct umemcg *full = group_row(refusal->at);
	bool is_live;

	group_lock();
	is_live = group_is_live(full);
	if (is_live && !is_counted)
		group_event(full, UMEMCG_EVENT_OOM);
	if (is_live)
		describe(full, group_of_owner(refusal->owner), refusal->nr_bytes, ret_failure);
	group_unlock();
	/* The next one; others may be refused in between. */
	ret_failure->sequence = 1 + atomic_load_explicit(&nr_failures, memory_order_relaxed);
	return is_live;
}

void failure_begin(const struct refusal *refusal)
{
	if (!(refusal->at & ABOVE))
		group_event_if_live(group_row(refusal->at), UMEMCG_EVENT_MAX);
}

static void underflow(uint32_t counter, uint64_t nr_bytes)
{
	static _Atomic bool reported;
	struct umemcg *group = group_row(counter);

	group_event(group, UMEMCG_EVENT_UNDERFLOW);
	if (!atomic_exchange_explicit(&reported, true, memory_order_relaxed))
		report("%llu bytes more were given back than were charged to group @%u "
		       "(a double free or a wrong size); reported once, counted in memory.events",
		       (unsigned long long)nr_bytes, group->id);
}

void failure_init(void)
{
	charge_ops.underflow = underflow;
}

int failure_last(struct umemcg_failure *ret_failure)
{
	if (!last_failure.sequence)
		return -ENOENT;
	*ret_failure = last_failure;
	return 0;
}
