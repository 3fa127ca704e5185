/* SPDX-License-Identifier: MIT */
#include "reclaim/limit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/system.h"
#include "charge/above.h"
#include "charge/charge.h"
#include "charge/counter.h"
#include "group/failure.h"
#include "group/group.h"
#include "kmem/mapping.h"
#include "reclaim/callback.h"
#include "reclaim/policy.h"
#include "reclaim/pressure.h"
#include "reclaim/reclaim.h"
#include "reclaim/worker.h"

/* Whoever gives back a little at a time, and has all of it taken by others, ends here. */
#define NR_ROUNDS_MAX 16u

/*
 * A touch of memory that nobody makes room for waits so often for what other threads are about to
 * do, twice as long each time: half a second in all.
 */
#define NR_IDLE_MAX 9u
#define IDLE_NS     1000000u

/* What a round of a touch may take at least, however short the program wants allocations to wait.
 */
#define TOUCH_NS 100000000u

/* What the program asks for itself may take at least. */
#define REQUEST_NS 500000000u

/* Relaxed: a charge that begins beside it may have the old one. */
static _Atomic uint64_t timeout_ns = 100000000;

void limit_set_timeout(uint64_t timeout_us)
{
	uint64_t ns = timeout_us > UINT64_MAX / 1000 ? UINT64_MAX : timeout_us * 1000;

	atomic_store_explicit(&timeout_ns, ns, memory_order_relaxed);
}

uint64_t limit_deadline(void)
{
	uint64_t now = system_now_ns();
	uint64_t ns = atomic_load_explicit(&timeout_ns, memory_order_relaxed);

	return ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
}

uint64_t limit_request_deadline(void)
{
	return max(limit_deadline(), system_now_ns() + REQUEST_NS);
}

/* The group whose memory is to be reclaimed: of a level above, all that the process has. */
static struct umemcg *full_group(const struct refusal *refusal)
{
	return refusal->at & ABOVE ? group_root() : group_row(refusal->at);
}

/* More than the level may ever have: nothing that is reclaimed for it would help. */
static bool is_hopeless(const struct flight *flight, const struct refusal *refusal)
{
	return !(refusal->at & ABOVE) &&
	       refusal->nr_bytes > counter_limit_for(refusal->at, flight->reserve_depth > 0);
}

static uint64_t nr_uncharges(const struct umemcg *group)
{
	return atomic_load_explicit(&group_counter(group)->nr_uncharges, memory_order_relaxed);
}

/*
 * Too little was given back. Others may be in the middle of giving, as is likely if there was
 * something, or have charged pages that they have not filled yet, which can be evicted then.
 */
static bool wait_for_others(struct charge_attempt *attempt, bool is_given)
{
	struct timespec time = { .tv_nsec = IDLE_NS << attempt->nr_idle };

	/* Who gave in one round may just be off the processor in the next. */
	attempt->has_others = attempt->has_others || is_given || mapping_others_are_inside();
	/* Once in any case: there may be room since just before this was asked. */
	if ((!attempt->has_others && attempt->nr_idle) || attempt->nr_idle == NR_IDLE_MAX)
		return false;
	attempt->nr_idle++;
	/* Called so, it is no point where a thread is cancelled. */
	if (attempt->has_others)
		syscall(SYS_nanosleep, &time, NULL);
	return true;
}

static uint64_t touch_deadline(void)
{
	return max(limit_deadline(), system_now_ns() + TOUCH_NS);
}

/* More than was seen so far: so small steps count only until they stop leading anywhere. */
static bool has_more_room(const struct flight *flight, const struct refusal *refusal,
			  struct charge_attempt *attempt)
{
	bool use_reserve = flight->reserve_depth > 0;
	uint64_t room = 0;
	bool is_more;

	if (!(refusal->at & ABOVE))
		room = counter_room(refusal->at, use_reserve);
	else if (charge_above)
		room = charge_above->headroom(use_reserve);
	is_more = room > attempt->most_room || room >= refusal->nr_bytes;
	attempt->most_room = max(attempt->most_room, room);
	return is_more;
}

/*
 * What bounds other charges begins anew for a touch whenever there was room; but not for one who
 * takes and gives back a little beside it all the time.
 */
static bool touch_goes_on(const struct flight *flight, const struct refusal *refusal,
			  struct charge_attempt *attempt, uint64_t nr_bytes_given, bool is_given)
{
	if (nr_bytes_given < refusal->nr_bytes &&
	    !(is_given && has_more_room(flight, refusal, attempt)))
		return wait_for_others(attempt, is_given);
	attempt->nr_idle = 0;
	attempt->nr_rounds = 1;
	attempt->deadline_ns = touch_deadline();
	return true;
}

/* Something was given back at the level, be it that another thread has taken it since. */
static bool make_room(struct flight *flight, const struct refusal *refusal,
		      struct charge_attempt *attempt)
{
	struct umemcg *full = full_group(refusal);
	uint64_t before = nr_uncharges(full), deadline_ns = attempt->deadline_ns, given;
	bool is_given;

	if (!reclaim_may(flight) || is_hopeless(flight, refusal) || !group_is_live(full))
		return false;
	if (attempt->is_touch)
		deadline_ns = touch_deadline();
	else if (attempt->nr_rounds > NR_ROUNDS_MAX || system_now_ns() >= deadline_ns)
		return false;
	/* Who charges is stalled, where it charges. */
	pressure_begin(refusal->owner);
	given = reclaim(flight, full, refusal->nr_bytes, deadline_ns);
	pressure_end(refusal->owner);
	is_given = given > 0 || nr_uncharges(full) != before;
	return attempt->is_touch ? touch_goes_on(flight, refusal, attempt, given, is_given)
				 : is_given;
}

/* Of a level above: what other processes can do about it. */
static bool others_make_room(struct flight *flight, const struct refusal *refusal,
			     const struct charge_attempt *attempt)
{
	/* A touch may have used its time up, waiting for others in this process. */
	uint64_t deadline_ns = attempt->is_touch ? touch_deadline() : attempt->deadline_ns;

	return refusal->at & ABOVE && charge_above && attempt->nr_rounds <= NR_ROUNDS_MAX &&
	       callback_may_begin(flight) &&
	       charge_above->relieve(flight, refusal->at, refusal->nr_bytes, deadline_ns);
}

/* Nothing can be reclaimed: the group that is full decides. */
static bool ask_policy(struct flight *flight, const struct refusal *refusal,
		       struct charge_attempt *attempt)
{
	struct umemcg_failure failure = { 0 };

	if (!atomic_load_explicit(&policy_is_used, memory_order_relaxed) || refusal->at & ABOVE ||
	    attempt->nr_asked == POLICY_CALLS_MAX || !callback_may_begin(flight))
		return false;
	return failure_describe(refusal, attempt->nr_asked++ > 0, &failure) &&
	       policy_decides(flight, group_row(refusal->at), &failure);
}

static bool try_again(struct flight *flight, struct charge_attempt *attempt)
{
	struct refusal refusal = flight->refusal;
	int saved_errno = errno;

	/* Whoever is further out finds it noted. */
	if (mapping_is_inside())
		return false;
	flight->refusal.at = 0;
	if (!attempt->nr_rounds++) {
		attempt->deadline_ns = attempt->is_touch ? touch_deadline() : limit_deadline();
		failure_begin(&refusal);
	}
	if (make_room(flight, &refusal, attempt) || others_make_room(flight, &refusal, attempt) ||
	    ask_policy(flight, &refusal, attempt)) {
		errno = saved_errno;
		return true;
	}
	worker_renew();
	errno = saved_errno;
	return !failure_tell(&refusal, attempt->nr_asked > 0);
}

void limit_init(void)
{
	charge_ops.try_again = try_again;
}

/* The limit is in force, so what is above it can only become less. */
int limit_set_max(struct flight *flight, struct umemcg *group, uint64_t max)
{
	int r = group_set_max(flight, group, max);

	while (r == -EBUSY && reclaim_may(flight)) {
		uint64_t usage =
			atomic_load_explicit(&group_counter(group)->usage, memory_order_relaxed);

		if (usage <= max)
			return 0;
		if (!reclaim_requested(flight, group, usage - max))
			break;
		if (!group_is_live(group))
			return -EINVAL;
	}
	return r;
}

int limit_reclaim(struct flight *flight, struct umemcg *group, uint64_t nr_bytes)
{
	if (!nr_bytes)
		return 0;
	return flight && reclaim_may(flight) ? reclaim_until(flight, group, nr_bytes) : -EAGAIN;
}
