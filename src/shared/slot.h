/* SPDX-License-Identifier: MIT */
/*
 * A process's row: claiming it, naming it, and telling whether its process is dead.
 *
 * A process is named by its pid and start time; the segment is of one boot and one pid namespace.
 * It lives while any of its threads does. Death is final.
 */
#ifndef UMEMCG_SHARED_SLOT_H
#define UMEMCG_SHARED_SLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/segment.h"

/* Rows at the end that only those may have who charge nothing, so that somebody can always recover
 * a tree whose rows are all of the dead. */
#define SLOT_NR_KEPT 8u

static inline enum process_state slot_state(const struct shared_process *process)
{
	/* Acquire pairs with slot_set_live(). */
	return atomic_load_explicit(&process->state, memory_order_acquire) &
	       ((1u << PROCESS_STATE_BITS) - 1);
}

/** slot_claimer - the pid that a claimed row is of, until it is live; else 0 */
static inline pid_t slot_claimer(const struct shared_process *process)
{
	/* Relaxed: it stands alone. */
	uint32_t state = atomic_load_explicit(&process->state, memory_order_relaxed);

	return (state & ((1u << PROCESS_STATE_BITS) - 1)) == PROCESS_CLAIMED
		       ? (pid_t)(state >> PROCESS_STATE_BITS)
		       : 0;
}

/** slot_is_leaf - is the row of a process that is charged, not of one that only looks? */
static inline bool slot_is_leaf(const struct segment *segment, uint32_t row)
{
	const struct shared_process *process = segment_process(segment, row);

	/* relaxed: they are set before the row is live. */
	return slot_state(process) == PROCESS_LIVE &&
	       !(atomic_load_explicit(&process->flags, memory_order_relaxed) & PROCESS_LOOKS);
}

/** slot_pid - of whom a row is, 0: not named yet */
pid_t slot_pid(const struct segment *segment, uint32_t row);

/**
 * slot_claim - take a free row: state free -> claimed, ledger zero, everything else filled in
 * @claimer: the caller's own row, or 0 while it has none
 * @pid:     whose row it is to be; 0: not known yet (a child before its fork)
 * @flags:   of enum process_flag
 *
 * Names it (but for pid 0). slot_set_live() is to follow. A row left claimed and not named by a
 * claimer who is dead is free for the taking.
 *
 * Return: 0; -ENOSPC; -ESRCH if there is no such process; -ENOMEM.
 */
int slot_claim(struct segment *segment, uint32_t claimer, pid_t pid, unsigned int flags,
	       uint32_t *ret_row);
void slot_set_live(struct segment *segment, uint32_t row);

/**
 * slot_name - say who it is: the child of a fork, or its parent, who may both do so
 *
 * In the process that claimed the row for pid 0, or in its child. Async-signal-safe.
 *
 * Return: 0; -ESRCH: there is no such process, or the row is another's by now.
 */
int slot_name(struct segment *segment, uint32_t row, pid_t pid);

/* How long a child may take until it has named itself. */
#define SLOT_BIRTH_S 10u

/** slot_born - in the parent, if it learns the pid: the row is the child's, and dead if that is */
void slot_born(struct segment *segment, uint32_t row, pid_t pid);

/** slot_give_up - take a row for one of the dead, whatever its process does; a recovery is to take
 * it out of the books, with whatever it holds */
void slot_give_up(struct segment *segment, uint32_t row);

/** slot_free - give a row back that holds no charge, state last */
void slot_free(struct segment *segment, uint32_t row);

/** slot_find - the live row of a pid that is not dead, 0: none. Not one that only looks */
uint32_t slot_find(const struct segment *segment, pid_t pid);

/** slot_find_former - a row of the very process, of what it executed before; 0: none but @but */
uint32_t slot_find_former(const struct segment *segment, pid_t pid, uint32_t but);

/**
 * slot_is_dead - is the process of a row that is not free dead?
 *
 * ESRCH, or its pidfd polls readable, or its start time is another's; or it executes another
 * program by now, whose charges are not in this row. Not dead if it cannot be told (EMFILE, another
 * namespace). Costs about 4 us. Async-signal-safe; allocates nothing.
 */
bool slot_is_dead(const struct segment *segment, uint32_t row);

/** slot_has_gone_on - of a dead row: does its process live, and execute another program? */
bool slot_has_gone_on(const struct segment *segment, uint32_t row);

/** slot_keep_place - recovering: of a row that has gone on nothing is left but its place in its
 * group, until the process has another row, or dies */
void slot_keep_place(struct segment *segment, uint32_t row);

/**
 * slot_condemn - slot_is_dead(), and from now on nobody names the row or claims it but by
 * slot_free()
 *
 * For whoever recovers. A child whose parent died before either could name it may come late.
 */
bool slot_condemn(struct segment *segment, uint32_t row);

/** slot_first_dead - is any process below a group dead? 0 for @group: any at all. Its row, or 0 */
uint32_t slot_first_dead(const struct segment *segment, uint32_t group);

#endif
