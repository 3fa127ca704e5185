/* SPDX-License-Identifier: MIT */
/*
 * Charging when the stock does not serve, and deciding that something does not fit.
 *
 * A refusal is decided in exclusive mode: nobody is in flight at or below the level that is full,
 * and every stock below it is closed and empty, so what is used there is what is really used.
 */
#ifndef UMEMCG_CHARGE_CHARGE_H
#define UMEMCG_CHARGE_CHARGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct flight;

/* What charging asks of the floors above it. */
struct charge_ops {
	/*
	 * A charge to @owner does not fit at counter @at. True: try again, there is more room.
	 * Called in no flight and with no lock held.
	 */
	bool (*refused)(struct flight *flight, uint32_t at, uint32_t owner, uint64_t nr_bytes);
	/*
	 * More was given back at a counter than it had; @nr_bytes were not taken off. Perhaps in
	 * flight: it charges nothing and waits for nobody who charges.
	 */
	void (*underflow)(uint32_t counter, uint64_t nr_bytes);
};

extern hidden struct charge_ops charge_ops;

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

/** charge_exactly - charge without a stock; 0, or -ENOMEM after reclaim and policy */
int charge_exactly(struct flight *flight, uint32_t owner, uint64_t nr_bytes);

/**
 * charge_move - charge to @to what is charged to @from
 *
 * Groups above both see no change, so only those below their common one can refuse.
 *
 * Return: 0, or -ENOMEM after reclaim and policy: nothing has changed then.
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
