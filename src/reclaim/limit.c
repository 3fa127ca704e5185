/* SPDX-License-Identifier: MIT */
#include "reclaim/limit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "charge/above.h"
#include "charge/charge.h"
#include "charge/counter.h"
#include "group/failure.h"
#include "group/group.h"
#include "kmem/mapping.h"
#include "reclaim/reclaim.h"
#include "reclaim/worker.h"

/* Whoever gives back a little at a time, and has all of it taken by others, ends here. */
#define NR_ROUNDS_MAX 16u

/* Relaxed: a charge that begins beside it may have the old one. */
static _Atomic uint64_t timeout_ns = 100000000;

void limit_set_timeout(uint64_t timeout_us)
{
	uint64_t ns = timeout_us > UINT64_MAX / 1000 ? UINT64_MAX : timeout_us * 1000;

	atomic_store_explicit(&timeout_ns, ns, memory_order_relaxed);
}

uint64_t limit_deadline(void)
{
	uint64_t now = worker_now();
	uint64_t ns = atomic_load_explicit(&timeout_ns, memory_order_relaxed);

	return ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
}

/* The group whose memory is to be reclaimed: of a level above, all that the process has. */
static struct umemcg *full_group(const struct refusal *refusal)
{
	return refusal->at & ABOVE ? group_root() : group_row(refusal->at);
}

/* More than the level may ever have: nothing that is reclaimed for it would help. */
static bool is_hopeless(const struct refusal *refusal)
{
	return !(refusal->at & ABOVE) &&
	       refusal->nr_bytes >
		       atomic_load_explicit(&counter_row(refusal->at)->max, memory_order_relaxed);
}

static uint64_t nr_uncharges(const struct umemcg *group)
{
	return atomic_load_explicit(&group_counter(group)->nr_uncharges, memory_order_relaxed);
}

/* Something was given back at the level, be it that another thread has taken it since. */
static bool make_room(struct flight *flight, const struct refusal *refusal,
		      struct charge_attempt *attempt)
{
	struct umemcg *full = full_group(refusal);
	uint64_t before = nr_uncharges(full);

	if (!reclaim_may(flight) || is_hopeless(refusal) || !group_is_live(full) ||
	    attempt->nr_rounds > NR_ROUNDS_MAX || worker_now() >= attempt->deadline_ns)
		return false;
	return reclaim(flight, full, refusal->nr_bytes, attempt->deadline_ns) > 0 ||
	       nr_uncharges(full) != before;
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
		attempt->deadline_ns = limit_deadline();
		failure_begin(&refusal);
	}
	if (make_room(flight, &refusal, attempt)) {
		errno = saved_errno;
		return true;
	}
	worker_renew();
	errno = saved_errno;
	return !failure_tell(&refusal);
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
		if (!reclaim(flight, group, usage - max, limit_deadline()))
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
