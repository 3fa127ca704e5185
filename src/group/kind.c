/* SPDX-License-Identifier: MIT */
#include "group/kind.h"

#include "base/compiler.h"
#include "charge/above.h"
#include "charge/charge.h"
#include "charge/counter.h"
#include "charge/flight.h"
#include "charge/overage.h"
#include "charge/owner.h"
#include "charge/stock.h"
#include "group/group.h"

static _Atomic uint64_t *kind_bytes(struct umemcg *group, enum kind kind)
{
	return kind == KIND_STACK ? &group->nr_bytes_stack : &group->nr_bytes_anon;
}

int group_charge_kind(struct flight *flight, struct umemcg *group, enum kind kind,
		      uint64_t nr_bytes)
{
	int r;

	if (!switch_counts(kind))
		return 0;
	r = charge_exactly(flight, group->owner, nr_bytes);
	if (r)
		return r;
	/* Relaxed: a sum that orders nothing. The caller keeps the group alive. */
	atomic_fetch_add_explicit(kind_bytes(group, kind), nr_bytes, memory_order_relaxed);
	if (charge_above)
		charge_above->count_kind(kind, (int64_t)nr_bytes);
	return 0;
}

static void count(uint32_t counter, enum kind kind, uint64_t nr_bytes)
{
	atomic_fetch_add_explicit(kind_bytes(group_row(counter), kind), nr_bytes,
				  memory_order_relaxed);
	if (charge_above)
		charge_above->count_kind(kind, (int64_t)nr_bytes);
}

int owner_charge_kind(struct flight *flight, uint32_t owner, enum kind kind, uint64_t nr_bytes)
{
	int r = charge_exactly(flight, owner, nr_bytes);

	if (r)
		return r;
	/* The group may go away in between; its heir, which inherits the bytes, counts them then.
	 */
	count(flight_begin_uncharge(flight, owner), kind, nr_bytes);
	flight_end_uncharge(flight);
	return 0;
}

bool owner_try_charge_kind(struct flight *flight, uint32_t owner, enum kind kind, uint64_t nr_bytes,
			   uint32_t *ret_at)
{
	uint32_t counter = flight_begin(flight, owner);
	uint32_t at = counter_try_add(counter, 0, nr_bytes, flight->reserve_depth > 0);

	if (!at) {
		owner_charge_gone(owner, nr_bytes);
		overage_note(flight, counter, nr_bytes);
		count(counter, kind, nr_bytes);
	}
	flight_end(flight);
	if (at)
		*ret_at = at;
	return !at;
}

void owner_uncharge_kind(struct flight *flight, uint32_t owner, enum kind kind, uint64_t nr_bytes)
{
	uint32_t counter;

	if (!switch_counts(kind))
		return;
	/* In flight, so that the group is not destroyed between the two subtractions. */
	counter = flight_begin_uncharge(flight, owner);
	atomic_fetch_sub_explicit(kind_bytes(group_row(counter), kind), nr_bytes,
				  memory_order_relaxed);
	if (charge_above)
		charge_above->count_kind(kind, -(int64_t)nr_bytes);
	owner_uncharge_gone(owner, nr_bytes);
	counter_sub(counter, 0, nr_bytes);
	flight_end_uncharge(flight);
}
