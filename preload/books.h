/* SPDX-License-Identifier: MIT */
/*
 * The books of a program's mappings: the table of spans, kept in step with what the system does.
 *
 * What must be true whenever nobody is inside:
 * - an address is in one span at most, and the sum of the charged spans is what is charged;
 * - memory that the program can write, and got by a call seen here, is charged.
 *
 * While somebody is inside, more may be charged than is there, never less: a call charges first,
 * then asks the system, then writes the table, and uncharges last. The lock is held from the look
 * at the table that says how much to charge until the table is written, across the system call, so
 * that nobody else is given the same addresses in between and writes the table first. The system
 * serialises most of these calls itself. A new mapping where the system likes needs no look, so
 * only writing it down is locked; madvise takes addresses from nobody, and runs unlocked.
 *
 * The lock is never held while anything is charged: that may run a program's callbacks, which may
 * map and unmap. Uncharging waits for nobody who could wait for the lock. Forks wait for whoever is
 * inside (kmem/mapping.h), so a child finds the lock free and the books balanced.
 *
 * A signal handler that maps while its thread holds the lock, or is in flight, is not accounted:
 * what it maps is not seen, what it unmaps stays charged until the addresses are seen again. A
 * vfork child runs in its parent's memory: what it maps is its parent's, and charged as that. A
 * child of a raw clone or _Fork() in a program with threads may find the lock taken for ever.
 */
#ifndef UMEMCG_PRELOAD_BOOKS_H
#define UMEMCG_PRELOAD_BOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "charge/charge.h"
#include "group/group.h"
#include "spans.h"

/* One call on its way through the books. */
struct books_entry {
	struct umemcg *group; /* pays */
	uint64_t start;       /* whole pages */
	uint64_t end;
	uint64_t nr_bytes; /* charged ahead, for what the table does not have yet */
};

/** books_page_up - round up to whole pages; 0 if that is more than there are addresses */
uint64_t books_page_up(uint64_t nr_bytes);

/**
 * books_open - begin a call; false if it is not to be accounted: books_close() is not called then
 *
 * The range may be empty, and given later.
 */
bool books_open(struct books_entry *entry, const void *address, uint64_t nr_bytes);

/** books_close - end it: give back what was charged ahead and not used */
void books_close(struct books_entry *entry);

/**
 * books_try_again - the call was closed and failed: was a charge refused, and room made for it?
 *
 * False within another call, which is to ask.
 */
bool books_try_again(struct charge_attempt *attempt);

/** books_throttle - a call is over that may have charged something */
void books_throttle(void);

void books_lock(void);
void books_unlock(void);

/** books_charge - charge ahead, unlocked; 0 or -ENOMEM */
int books_charge(struct books_entry *entry, uint64_t nr_bytes);

/**
 * books_cover - locked: charge ahead what @need says that the range takes
 *
 * The lock is given up meanwhile, and @need is asked again, so that it is true at the end.
 *
 * Return: 0; -ENOMEM. Locked in both cases.
 */
int books_cover(struct books_entry *entry, uint64_t (*need)(const struct books_entry *entry));

/** books_new - locked: bytes of the range that the group is not charged for */
uint64_t books_new(const struct books_entry *entry);

/** books_unwritten - locked: bytes of the range that become charged when they can be written */
uint64_t books_unwritten(const struct books_entry *entry);

/** books_released - locked: those among them that were charged before */
uint64_t books_released(const struct books_entry *entry);

/** books_nothing - 0, whatever the range */
uint64_t books_nothing(const struct books_entry *entry);

/** books_known - locked: bytes of the range that are in the table */
uint64_t books_known(const struct books_entry *entry);

/**
 * books_replace - locked: the range is something new; what was there is given back
 *
 * For SPAN_CHARGED the group pays what books_new() says, of what was charged ahead.
 */
void books_replace(struct books_entry *entry, uint64_t start, uint64_t end, enum span_state state);

/** books_turn - locked: every span of the range in state @from is now in @to; there is room */
void books_turn(struct books_entry *entry, enum span_state from, enum span_state to);

/** books_charge_released - what is released of the range is in use again; 0 or -ENOMEM: as it was.
 * Takes the lock */
int books_charge_released(struct books_entry *entry);

/** books_room_to_turn - locked: make room for books_turn() of the range; 0 or -ENOMEM */
int books_room_to_turn(const struct books_entry *entry);

/** books_has_released - is there any released memory? Unlocked, for who may be a moment late */
bool books_has_released(void);

/** books_nr_bytes - the sum of all spans in a state, locked by itself */
uint64_t books_nr_bytes(enum span_state state);

#endif
