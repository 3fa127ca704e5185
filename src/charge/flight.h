/* SPDX-License-Identifier: MIT */
/*
 * In flight and frozen: how a charge and a refusal keep out of each other's way.
 *
 * A thread publishes which counter it charges, then looks at the frozen words from there up to the
 * root, and begins only if none is set. Whoever has to know what is really used at a level
 * freezes it, waits until no other thread is in flight at or below it, and then decides. Both
 * sides store first and load second, sequentially consistent, so one of them sees the other.
 *
 * docs/models/charge.pml is this protocol, checked.
 */
#ifndef UMEMCG_CHARGE_FLIGHT_H
#define UMEMCG_CHARGE_FLIGHT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct stock;

/* What others must see of a thread that charges; in a shared tree it lies in the segment. */
struct flight_row {
	_Atomic uint32_t charging;   /* counter being charged, or 0 */
	_Atomic uint32_t uncharging; /* counter being uncharged, or 0 */
	_Atomic uint32_t stalled;    /* others have given up waiting for this flight */
};

/* A charge that does not fit, until the call that asked for it has been unwound. */
struct refusal {
	uint32_t at; /* level that is full; 0: nothing was refused */
	uint32_t owner;
	uint64_t nr_bytes;
};

/* A thread, as charging sees it. Lives for ever once registered; a new thread may take it over. */
struct flight {
	struct flight_row *row;       /* never changes once it is registered, but in a fork child */
	struct stock *_Atomic stocks; /* all stocks, bound or not; only pushed to */
	struct flight *next;          /* of all flights; only pushed to */
	_Atomic uint32_t freezing;    /* counter that it has frozen, or is about to; for a fork */
	_Atomic uint32_t repaying;    /* owner that is about to be uncharged, or 0; for a fork */
	_Atomic uint64_t nr_repaid;   /* by so many bytes */
	uint32_t reserve_depth;       /* umemcg_reserve_enter() minus _leave() */
	uint32_t nr_stalls;           /* stalls begun and not ended: the outermost counts */
	uint32_t stalled_at;          /* counter of that one, or 0; under the lock of pressure */
	uint64_t nr_over_high;        /* bytes charged above high, not waited for yet */
	uint32_t in_callback;         /* of the program's, which makes room: depth */
	struct refusal refusal;       /* the thread's own, like what stands before it */
	struct flight_row own_row;    /* the row, while nobody else has to see it */
};

/** flight_register - make a thread known; zeroed memory that is never given back */
void flight_register(struct flight *flight);

/** flight_first - head of the list of all flights, to be followed by ->next */
struct flight *flight_first(void);

/** flight_nr - flights ever registered */
uint32_t flight_nr(void);

/**
 * flight_begin - take off: publish a charge to an owner and wait until nothing above is frozen
 *
 * Return: the counter to charge.
 */
uint32_t flight_begin(struct flight *flight, uint32_t owner);

/** flight_try_begin_here - as flight_begin(), without regard to levels above the root; 0, with the
 * counter that is frozen, instead of waiting */
uint32_t flight_try_begin_here(struct flight *flight, uint32_t owner, uint32_t *ret_frozen);

/** flight_try_begin - as flight_begin(), but 0 instead of waiting */
uint32_t flight_try_begin(struct flight *flight, uint32_t owner);
void flight_end(struct flight *flight);

/* The parts of it, for exclusive mode. Frozen above the root is ABOVE. */
void flight_publish(struct flight *flight, uint32_t counter);
uint32_t flight_frozen_on_path(uint32_t counter);
void flight_wait_thawed(uint32_t counter);

/**
 * flight_begin_uncharge - publish that an owner is uncharged; waits only for its destruction or
 * for a fork, never for a refusal
 *
 * Return: the counter to uncharge.
 */
uint32_t flight_begin_uncharge(struct flight *flight, uint32_t owner);
void flight_end_uncharge(struct flight *flight);

/**
 * flight_freeze - enter exclusive mode at a counter
 *
 * Waits for whoever has it frozen, then until no thread but @flight is in flight at or below it.
 *
 * Return: 0; -ETIME if some thread stayed in flight for a second (it is stopped): not frozen then.
 */
int flight_freeze(struct flight *flight, uint32_t counter);
void flight_thaw(struct flight *flight, uint32_t counter);

/** flight_wait_uncharges - wait until no thread is uncharging @counter; 0 for any counter */
void flight_wait_uncharges(uint32_t counter);

/**
 * flight_hold - stop everything, as before a fork; flight_release() lets it go on
 *
 * In flight itself, for others in a shared tree, until flight_hold_ready(): in between stocks are
 * drained.
 */
void flight_hold(void);
void flight_hold_ready(void);
void flight_release(void);

/** flight_renew_rows - in a fork child, first of all: rows of its own, with nothing in them */
void flight_renew_rows(void);

/** flight_forget_others - in a fork child: no other thread exists any more */
void flight_forget_others(const struct flight *mine);

#endif
