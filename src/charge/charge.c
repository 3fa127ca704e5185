/* SPDX-License-Identifier: MIT */
#include "charge/charge.h"

#include <errno.h>

#include "base/compiler.h"
#include "charge/above.h"
#include "charge/counter.h"
#include "charge/drain.h"
#include "charge/flight.h"
#include "charge/overage.h"
#include "charge/owner.h"
#include "charge/pause.h"

struct charge_ops charge_ops;
_Atomic bool charge_throttles;

const struct charge_above *charge_above;

void charge_underflow(uint32_t counter, uint64_t nr_bytes)
{
	if (charge_ops.underflow)
		charge_ops.underflow(counter, nr_bytes);
}

/*
 * Published only once nobody else is in flight below: two that published first and then waited
 * would wait for each other. Published before anything is drained: a drain takes bytes off the
 * levels above as well, and must not do so under the eyes of a decision there.
 */
int charge_stop_below(struct flight *flight, uint32_t counter)
{
	for (;;) {
		int r = flight_freeze(flight, counter);
		uint32_t above;

		if (r)
			return r;
		flight_publish(flight, counter);
		/* Read only now: a row that was reused while we waited has another parent. */
		above = flight_frozen_on_path(counter_parent(counter));
		if (!above)
			break;
		flight_end(flight);
		flight_thaw(flight, counter);
		flight_wait_thawed(above);
	}
	drain_below(counter);
	return 0;
}

void charge_go_on(struct flight *flight, uint32_t counter)
{
	flight_end(flight);
	flight_thaw(flight, counter);
}

int charge_decide(struct flight *flight, uint32_t owner, uint64_t nr_bytes, uint32_t at,
		  uint32_t *ret_at)
{
	bool use_reserve = flight->reserve_depth > 0;

	while (!(at & ABOVE)) {
		uint64_t nr_uncharges;
		uint32_t id, full;

		if (charge_stop_below(flight, at))
			break;
		id = owner_counter(owner);
		if (!counter_is_below(id, at)) {
			/* The group went away while we waited; its heir is charged instead. */
			charge_go_on(flight, at);
			at = id;
			continue;
		}
		/* Read before the add that fails: what is given back from here on is noticed. */
		nr_uncharges =
			atomic_load_explicit(&counter_row(at)->nr_uncharges, memory_order_seq_cst);
		full = counter_try_add(id, 0, nr_bytes, use_reserve);
		if (!full) {
			owner_charge_gone(owner, nr_bytes);
			overage_note(flight, id, nr_bytes);
			charge_go_on(flight, at);
			return 0;
		}
		if (full == at && !use_reserve)
			counter_remember_refusal(at, nr_bytes, nr_uncharges);
		charge_go_on(flight, at);
		if (!(full & ABOVE) && counter_is_below(full, at)) {
			at = full;
			break;
		}
		at = full;
	}
	if (at & ABOVE)
		return charge_above->decide(flight, owner, nr_bytes, at, ret_at);
	*ret_at = at;
	return -ENOMEM;
}

bool charge_is_refused(uint32_t at, uint64_t nr_bytes)
{
	/* Looked at once more: a recovery that ended before we asked has made it forgotten. */
	return !(at & ABOVE) ||
	       (charge_above->is_certain(at) && charge_above->refused(nr_bytes) == at);
}

int charge_exactly(struct flight *flight, uint32_t owner, uint64_t nr_bytes)
{
	bool use_reserve = flight->reserve_depth > 0;

	for (;;) {
		uint32_t id = flight_begin(flight, owner);
		uint32_t at = use_reserve ? 0 : counter_refused(id, nr_bytes);
		bool known = at != 0;

		if (!known)
			at = counter_try_add(id, 0, nr_bytes, use_reserve);
		if (!at) {
			owner_charge_gone(owner, nr_bytes);
			overage_note(flight, id, nr_bytes);
		}
		flight_end(flight);
		if (!at)
			return 0;
		if (!known && !charge_decide(flight, owner, nr_bytes, at, &at))
			return 0;
		if (known && !charge_is_refused(at, nr_bytes))
			continue;
		charge_refused(flight, at, owner, nr_bytes);
		return -ENOMEM;
	}
}

/* In flight at @dst, and uncharging at @src, so that neither goes away. 0, or the level that is
 * full. */
static uint32_t move(struct flight *flight, uint32_t from, uint32_t src, uint32_t to, uint32_t dst,
		     uint64_t nr_bytes)
{
	uint32_t top = counter_common(src, dst);
	uint32_t at = counter_try_add(dst, top, nr_bytes, flight->reserve_depth > 0);

	if (at)
		return at;
	owner_charge_gone(to, nr_bytes);
	owner_uncharge_gone(from, nr_bytes);
	counter_sub(src, top, nr_bytes);
	return 0;
}

/* Out of exclusive mode. False: somebody is deciding above @to, so nothing was tried. */
static bool try_move(struct flight *flight, uint32_t from, uint32_t to, uint64_t nr_bytes,
		     uint32_t *ret_at)
{
	uint32_t src = flight_begin_uncharge(flight, from);
	/* Not waiting: whoever stops charges before a fork waits for us to end uncharging. */
	uint32_t dst = flight_try_begin(flight, to);

	if (dst) {
		*ret_at = move(flight, from, src, to, dst, nr_bytes);
		flight_end(flight);
	}
	flight_end_uncharge(flight);
	return dst != 0;
}

enum decision { DONE, FULL, ELSEWHERE };

static enum decision decide_move(struct flight *flight, uint32_t from, uint32_t to,
				 uint64_t nr_bytes, uint32_t *at)
{
	enum decision decision = ELSEWHERE;
	uint32_t src, dst, full, frozen = *at;

	if (charge_stop_below(flight, frozen))
		return FULL;
	src = flight_begin_uncharge(flight, from);
	dst = owner_counter(to);
	if (counter_is_below(dst, frozen)) {
		full = move(flight, from, src, to, dst, nr_bytes);
		if (!full)
			decision = DONE;
		else if (counter_is_below(full, frozen))
			decision = FULL;
		*at = full;
	}
	flight_end_uncharge(flight);
	charge_go_on(flight, frozen);
	return decision;
}

int charge_move(struct flight *flight, uint32_t from, uint32_t to, uint64_t nr_bytes)
{
	for (unsigned int round = 0;; round++) {
		enum decision decision;
		uint32_t at;

		if (!try_move(flight, from, to, nr_bytes, &at)) {
			pause_briefly(round);
			continue;
		}
		if (!at)
			return 0;
		decision = decide_move(flight, from, to, nr_bytes, &at);
		if (decision == DONE)
			return 0;
		if (decision == FULL) {
			charge_refused(flight, at, to, nr_bytes);
			return -ENOMEM;
		}
	}
}

void charge_hold(void)
{
	flight_hold();
	drain_below(ROOT_COUNTER);
	flight_hold_ready();
}

void charge_release(void)
{
	flight_release();
}
