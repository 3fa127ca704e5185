/* SPDX-License-Identifier: MIT */
/*
 * Charging when the stock does not serve, and deciding that something does not fit.
 *
 * A refusal is decided in exclusive mode: nobody is in flight at or below the level that is full,
 * and every stock below it is closed and empty, so what is used there is what is really used.
 */
#ifndef UMEMCG_CHARGE_CHARGE_H
#define UMEMCG_CHARGE_CHARGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "charge/flight.h"

/* One call of the program's that charges, as often as it is tried. Zero at first. */
struct charge_attempt {
	unsigned int nr_rounds; /* in which room was made */
	unsigned int nr_asked;  /* times that the policy was to decide */
	unsigned int nr_idle;   /* of a touch: rounds in a row that made too little */
	uint64_t most_room;   /* of a touch: bytes that would have fitted, at most, after a round */
	bool has_others;      /* of a touch: somebody else may yet make room */
	bool is_touch;        /* it cannot be told that it failed: goes on while it comes closer */
	uint64_t deadline_ns; /* of CLOCK_MONOTONIC; 0 before the first refusal */
};

/* What charging asks of the floors above it. */
struct charge_ops {
	/* As charge_try_again(), of a refusal that was noted; tells whoever wants to know if not.
	 */
	bool (*try_again)(struct flight *flight, struct charge_attempt *attempt);
	/* Something was charged to @owner, by a call that may be delayed, and that holds nothing.
	 */
	void (*throttle)(struct flight *flight, uint32_t owner);
	/*
	 * More was given back at a counter than it had; @nr_bytes were not taken off. Perhaps in
	 * flight: it charges nothing and waits for nobody who charges.
	 */
	void (*underflow)(uint32_t counter, uint64_t nr_bytes);
	/* A thread has ended; if it was stalled, that is over. */
	void (*stall_forget)(struct flight *flight);
};

extern hidden struct charge_ops charge_ops;

/* Set once allocations are to be delayed in groups that are above high. Relaxed: may be seen late.
 */
extern hidden _Atomic bool charge_throttles;

/**
 * charge_refused - a charge does not fit at level @at, and that is certain
 *
 * Only noted, for charge_try_again(): here the thread may hold locks, or have half done what the
 * charge is for.
 */
static inline void charge_refused(struct flight *flight, uint32_t at, uint32_t owner,
				  uint64_t nr_bytes)
{
	flight->refusal = (struct refusal){ .at = at, .owner = owner, .nr_bytes = nr_bytes };
}

/**
 * charge_try_again - in every call of the program's that charges, where that was refused
 * @flight:  the thread's, or NULL: it has none
 * @attempt: of this call
 *
 * With everything unwound that the call had begun, and no lock held: what makes room may run
 * callbacks of the program's, which may allocate, free, and destroy groups, so that all has to be
 * looked up anew. False too if nothing was refused, or if the thread is within another call that
 * is to ask.
 */
static inline bool charge_try_again(struct flight *flight, struct charge_attempt *attempt)
{
	return CONFIG_MEMCG && flight && flight->refusal.at && charge_ops.try_again &&
	       charge_ops.try_again(flight, attempt);
}

static always_inline bool charge_may_throttle(void)
{
	return CONFIG_MEMCG && atomic_load_explicit(&charge_throttles, memory_order_relaxed);
}

/** charge_throttle - where a call is over that has charged something, and holds no lock */
static always_inline void charge_throttle(struct flight *flight, uint32_t owner)
{
	if (unlikely(charge_may_throttle()))
		charge_ops.throttle(flight, owner);
}

void charge_underflow(uint32_t counter, uint64_t nr_bytes);

/**
 * charge_decide - charge exactly, in exclusive mode, or refuse
 * @at:     level that is full
 * @ret_at: level that refused
 *
 * Return: 0; -ENOMEM; the stocks below are closed then. Levels above the root are decided about by
 * charge/above.h.
 */
int charge_decide(struct flight *flight, uint32_t owner, uint64_t nr_bytes, uint32_t at,
		  uint32_t *ret_at);

/**
 * charge_is_refused - of a level that counter_refused() named, in no flight: is that still so?
 */
bool charge_is_refused(uint32_t at, uint64_t nr_bytes);

/** charge_exactly - charge without a stock; 0, or -ENOMEM, noted for charge_try_again() */
int charge_exactly(struct flight *flight, uint32_t owner, uint64_t nr_bytes);

/**
 * charge_move - charge to @to what is charged to @from
 *
 * Groups above both see no change, so only those below their common one can refuse.
 *
 * Return: 0, or -ENOMEM, noted for charge_try_again(): nothing has changed then.
 */
int charge_move(struct flight *flight, uint32_t from, uint32_t to, uint64_t nr_bytes);

/**
 * charge_stop_below - enter exclusive mode at a counter with every stock below it empty
 *
 * Whatever is charged there now is really used, until charge_go_on().
 *
 * Return: 0; -ETIME if a thread is stopped in the middle of a charge: nothing is stopped then.
 */
int charge_stop_below(struct flight *flight, uint32_t counter);
void charge_go_on(struct flight *flight, uint32_t counter);

/**
 * charge_hold - stop all charging and uncharging, with every stock empty, as before a fork
 *
 * Ends with charge_release(), in the parent and in the child.
 */
void charge_hold(void);
void charge_release(void);

#endif
