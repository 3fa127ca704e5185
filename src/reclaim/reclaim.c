/* SPDX-License-Identifier: MIT */
#include "reclaim/reclaim.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/system.h"
#include "charge/counter.h"
#include "group/event.h"
#include "group/group.h"
#include "kmem/heap.h"
#include "reclaim/callback.h"
#include "reclaim/claim.h"
#include "reclaim/limit.h"
#include "reclaim/lru.h"
#include "reclaim/pressure.h"
#include "reclaim/protection.h"
#include "reclaim/shrinker.h"
#include "reclaim/targets.h"
#include "user/source.h"

/*
 * What one round takes: a small part of what is used, for what is protected changes as usage falls;
 * but not so little that each charge at the limit would have to ask anew.
 */
#define ROUND_PART      32u
#define ROUND_MIN_PART  1024u
#define ROUND_MAX_BYTES ((uint64_t)128 << 10)

/* So often what is not protected is looked at, before what low protects is taken. */
#define NR_TRIES_BEFORE_LOW 16u

/* How much a group can have given ahead. */
#define DUE_MAX_BYTES ((uint64_t)1 << 20)

struct round {
	struct flight *flight;
	uint64_t deadline_ns;
	bool breaches_low; /* only min is spared */
	bool skipped_low;  /* something was spared for low */
	bool lost_a_group; /* it was destroyed: what it had is its heir's, and not looked at yet */
	bool was_late;     /* what a group had to give others had claimed, or taken */
	unsigned __int128 nr_parts; /* sum of the targets' parts */
	struct targets targets;
};

_Atomic bool reclaim_is_possible;

static const struct reclaim_source *pages(void)
{
	/* acquire: pairs with the release of who has the first region. */
	return atomic_load_explicit(&page_source, memory_order_acquire);
}

bool reclaim_may(const struct flight *flight)
{
	return (atomic_load_explicit(&reclaim_is_possible, memory_order_relaxed) || pages()) &&
	       callback_may_begin(flight);
}

/* relaxed: a measure of what this thread did, among others that charge meanwhile. */
static uint64_t usage_of(const struct umemcg *group)
{
	return atomic_load_explicit(&group_counter(group)->usage, memory_order_relaxed);
}

static bool is_over(const struct round *round)
{
	return system_now_ns() >= round->deadline_ns;
}

/* ---- what there is ---- */

static uint64_t count_pages(struct umemcg *group)
{
	return pages() ? pages()->count(group) : 0;
}

/* Nobody has more than is charged to it, which is less than 2^62, whatever it says. */
static uint64_t count(const struct round *round, struct umemcg *group)
{
	uint64_t nr_bytes = shrinker_count(round->flight, group, round->deadline_ns);
	uint64_t usage = usage_of(group);

	nr_bytes = min(nr_bytes, usage) + min(lru_count(group), usage);
	return min(nr_bytes + count_pages(group), usage);
}

/* The top is what is to shrink: it spares nothing of its own. */
static bool is_spared(struct round *round, const struct target *target)
{
	if (target == round->targets.all)
		return false;
	if (target->nr_bytes_usage <= target->min)
		return true;
	if (target->nr_bytes_usage > target->low || round->breaches_low)
		return false;
	round->skipped_low = true;
	return true;
}

static uint64_t protection_of(struct round *round, const struct target *target)
{
	if (round->breaches_low || target->low <= target->min)
		return target->min;
	round->skipped_low = true;
	return target->low;
}

static void count_target(struct round *round, struct target *target)
{
	struct umemcg *group = target_group(target);

	if (!group || is_spared(round, target))
		return;
	target->nr_bytes = count(round, group);
	target->part = protection_part(target->nr_bytes, target->nr_bytes_usage,
				       protection_of(round, target));
	round->nr_parts += target->part;
}

static void count_all(struct round *round)
{
	for (size_t i = 0; i < round->targets.nr && !is_over(round); i++)
		count_target(round, &round->targets.all[i]);
}

/* ---- taking it ---- */

/* Multiples of the golden ratio spread evenly. Relaxed: a number of its own. */
static uint32_t next_turn(void)
{
	static _Atomic uint32_t nr_turns;

	return 2654435769u * atomic_fetch_add_explicit(&nr_turns, 1, memory_order_relaxed);
}

enum source { PAGES, LISTS, SHRINKERS, NR_SOURCES };

static void scan_source(const struct round *round, struct umemcg *group, enum source source,
			uint64_t nr_bytes, uint64_t at)
{
	switch (source) {
	case PAGES:
		pages()->scan(group, nr_bytes);
		break;
	case LISTS:
		lru_scan(round->flight, group, nr_bytes, round->deadline_ns);
		break;
	default:
		shrinker_scan(round->flight, group, nr_bytes, at, round->deadline_ns);
	}
}

/* The source whose turn it is, as often as it has much, and the place in what it has. */
static unsigned int first_source(const uint64_t has[NR_SOURCES], uint64_t *ret_at)
{
	unsigned __int128 all = (unsigned __int128)has[PAGES] + has[LISTS] + has[SHRINKERS];
	uint64_t at = (uint64_t)(all * next_turn() >> 32);
	unsigned int source = 0;

	while (source < SHRINKERS && at >= has[source])
		at -= has[source++];
	*ret_at = at;
	return source;
}

/* From one source; what that does not give, from the others. */
static void scan(const struct round *round, const struct target *target, struct umemcg *group,
		 uint64_t nr_bytes)
{
	uint64_t has[NR_SOURCES] = {
		[PAGES] = count_pages(group),
		[LISTS] = lru_count(group),
		[SHRINKERS] = shrinker_count(round->flight, group, round->deadline_ns),
	};
	uint64_t before = usage_of(group), given = 0, at;
	unsigned int first = first_source(has, &at);

	for (unsigned int i = 0; i < NR_SOURCES && given < nr_bytes; i++) {
		unsigned int source = (first + i) % NR_SOURCES;

		if (has[source])
			scan_source(round, group, source, nr_bytes - given, i ? 0 : at);
		if (!target_group(target))
			return;
		given = before - min(before, usage_of(group));
		/* A stock has it, perhaps. */
		if (given < nr_bytes && i + 1 < NR_SOURCES)
			group_drain(round->flight, group);
		given = before - min(before, usage_of(group));
	}
}

static uint64_t take_claimed(struct round *round, const struct target *target, struct umemcg *group,
			     uint64_t nr_bytes)
{
	uint64_t before = usage_of(group), after;

	if (round->breaches_low && target != round->targets.all &&
	    target->nr_bytes_usage <= target->low)
		group_event_if_live(group, UMEMCG_EVENT_LOW);
	scan(round, target, group, nr_bytes);
	if (!target_group(target)) {
		round->lost_a_group = true;
		return 0;
	}
	after = usage_of(group);
	if (after + nr_bytes > before) {
		group_drain(round->flight, group);
		after = usage_of(group);
	}
	return before > after ? before - after : 0;
}

/* Return: what it gave back, measured; what was given back to a stock counts as well. */
static uint64_t take(struct round *round, const struct target *target, uint64_t nr_bytes)
{
	struct umemcg *group = target_group(target);
	uint64_t given;

	if (!group)
		return 0;
	nr_bytes =
		claim_begin(group, min(nr_bytes, target->nr_bytes), protection_of(round, target));
	if (!nr_bytes) {
		round->was_late = true;
		return 0;
	}
	given = take_claimed(round, target, group, nr_bytes);
	claim_end();
	return given;
}

static uint64_t share(const struct round *round, const struct target *target, uint64_t nr_bytes)
{
	return (uint64_t)((unsigned __int128)nr_bytes * target->part / round->nr_parts);
}

/*
 * What a group gives beyond its share is taken off its later ones, and what is still due when a
 * round has enough is due in the next one. So shares are kept to however large its objects are.
 * Relaxed: rounds beside each other add up.
 */
static int64_t add_due(const struct target *target, int64_t nr_bytes)
{
	struct umemcg *group = group_row(target->id);

	return nr_bytes +
	       atomic_fetch_add_explicit(&group->nr_bytes_due, nr_bytes, memory_order_relaxed);
}

/* One that has less than is due owes no more; one that gave very much is not let off for ever. */
static void settle_due(const struct target *target, int64_t due, uint64_t given)
{
	int64_t left = due - (int64_t)min(given, (uint64_t)DUE_MAX_BYTES);

	left = min(max(left, -(int64_t)DUE_MAX_BYTES), (int64_t)0);
	atomic_store_explicit(&group_row(target->id)->nr_bytes_due, left, memory_order_relaxed);
}

static uint64_t take_due(struct round *round, struct target *target)
{
	int64_t due = target->part ? add_due(target, 0) : 0;
	uint64_t given;

	if (due <= 0)
		return 0;
	given = take(round, target, (uint64_t)due);
	settle_due(target, due, given);
	target->part = given ? target->part : 0;
	return given;
}

/* More is due from all, in proportion: at least so much that it is due from one of them. */
static bool make_due(const struct round *round, uint64_t nr_bytes)
{
	const struct targets *targets = &round->targets;
	unsigned __int128 least = UINT64_MAX;

	for (size_t i = 0; i < targets->nr; i++) {
		const struct target *target = &targets->all[i];
		int64_t due = target->part ? add_due(target, 0) : 0;

		if (target->part && due > 0)
			least = 0;
		else if (target->part)
			least = min(least,
				    (unsigned __int128)(1 - due) * round->nr_parts / target->part +
					    1);
	}
	if (least == UINT64_MAX)
		return false;
	nr_bytes = max(nr_bytes, (uint64_t)least);
	for (size_t i = 0; i < targets->nr; i++)
		if (targets->all[i].part)
			add_due(&targets->all[i], share(round, &targets->all[i], nr_bytes));
	return true;
}

/* Those that turn out to have nothing are asked no more; until one has given something. */
static void take_all(struct round *round, uint64_t nr_bytes)
{
	size_t nr = round->targets.nr, first = (size_t)((uint64_t)nr * next_turn() >> 32);
	uint64_t given = 0;

	while (!given && !is_over(round) && make_due(round, nr_bytes))
		for (size_t i = 0; i < nr && given < nr_bytes && !is_over(round); i++)
			given += take_due(round, &round->targets.all[(first + i) % nr]);
}

static uint64_t bytes_of_round(const struct round *round, const struct umemcg *top,
			       uint64_t nr_bytes)
{
	uint64_t usage = usage_of(top), least = 0;

	/* Of what low protects no more than is wanted. */
	if (!round->breaches_low)
		least = min(usage / ROUND_MIN_PART, ROUND_MAX_BYTES);

	return min(max(nr_bytes, least), max(usage / ROUND_PART, least)) + 1;
}

/* Return: by how much usage fell. */
static uint64_t go_round(struct round *round, struct umemcg *top, uint64_t nr_bytes)
{
	uint64_t before, after = UINT64_MAX;

	group_drain(round->flight, top);
	before = usage_of(top);
	targets_find(&round->targets, top);
	count_all(round);
	if (round->nr_parts)
		take_all(round,
			 (uint64_t)min((unsigned __int128)bytes_of_round(round, top, nr_bytes),
				       round->nr_parts));
	if (round->targets.nr && target_group(&round->targets.all[0])) {
		group_drain(round->flight, top);
		after = usage_of(top);
	}
	targets_free(&round->targets);
	return before > after ? before - after : 0;
}

/* relaxed: as usage_of(). */
static uint64_t nr_uncharges(const struct umemcg *group)
{
	return atomic_load_explicit(&group_counter(group)->nr_uncharges, memory_order_relaxed);
}

/*
 * Of what low does not protect. Where others reclaim as well, or charge what was just given back, a
 * round may seem to have given nothing although there is more: so it is tried a few times.
 */
static uint64_t reclaim_unprotected(struct round *round, struct umemcg *top, uint64_t nr_bytes)
{
	unsigned int nr_tries = 0;

	for (;;) {
		uint64_t before = nr_uncharges(top), given;

		round->nr_parts = 0;
		round->lost_a_group = round->was_late = false;
		given = go_round(round, top, nr_bytes);
		if (given || is_over(round) || !group_is_live(top))
			return given;
		if (round->lost_a_group)
			continue;
		if ((!round->was_late && nr_uncharges(top) == before) ||
		    ++nr_tries == NR_TRIES_BEFORE_LOW)
			return 0;
		sched_yield();
	}
}

/* What low protects is taken only if there is nothing else. */
static uint64_t reclaim_a_part(struct flight *flight, struct umemcg *top, uint64_t nr_bytes,
			       uint64_t deadline_ns)
{
	struct round round = { .flight = flight, .deadline_ns = deadline_ns };
	uint64_t given = reclaim_unprotected(&round, top, nr_bytes);

	if (given || !round.skipped_low || !group_is_live(top))
		return given;
	round = (struct round){
		.flight = flight,
		.deadline_ns = deadline_ns,
		.breaches_low = true,
	};
	return go_round(&round, top, nr_bytes);
}

uint64_t reclaim(struct flight *flight, struct umemcg *top, uint64_t nr_bytes, uint64_t deadline_ns)
{
	uint64_t given = 0, more;

	do {
		more = reclaim_a_part(flight, top, nr_bytes - given, deadline_ns);
		given += more;
	} while (more && given < nr_bytes && system_now_ns() < deadline_ns && group_is_live(top));
	return given;
}

/* Where the thread is stalled: in its own group, if that is one of those that shrink. */
static uint32_t stall_owner(const struct umemcg *top)
{
	const struct umemcg *own = thread_group();
	uint32_t owner = group_root()->owner;

	group_lock();
	if (own && group_is_live(own) && group_is_live(top) && counter_is_below(own->id, top->id))
		owner = own->owner;
	else if (group_is_live(top))
		owner = top->owner;
	group_unlock();
	return owner;
}

uint64_t reclaim_requested(struct flight *flight, struct umemcg *top, uint64_t nr_bytes)
{
	uint32_t owner = stall_owner(top);
	uint64_t given;

	pressure_begin(owner);
	given = reclaim(flight, top, nr_bytes, limit_request_deadline());
	pressure_end(owner);
	return given;
}

int reclaim_until(struct flight *flight, struct umemcg *group, uint64_t nr_bytes)
{
	uint64_t given = 0, more = 1;

	while (given < nr_bytes && more && group_is_live(group)) {
		more = reclaim_requested(flight, group, nr_bytes - given);
		given += more;
	}
	return given < nr_bytes ? -EAGAIN : 0;
}

uint64_t reclaim_count(struct flight *flight, struct umemcg *top)
{
	struct round round = {
		.flight = flight,
		.deadline_ns = limit_request_deadline(),
		.breaches_low = true,
	};
	uint64_t nr_bytes = 0;

	targets_find(&round.targets, top);
	count_all(&round);
	for (size_t i = 0; i < round.targets.nr; i++)
		nr_bytes += round.targets.all[i].nr_bytes;
	targets_free(&round.targets);
	return nr_bytes;
}
