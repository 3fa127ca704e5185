/* SPDX-License-Identifier: MIT */
/*
 * Charges of a supervised process: what its calls ask for, and what its address space really has.
 * The first is charged before the call is made; the second sets it right.
 */
#ifndef UMEMCG_CMD_SETTLE_H
#define UMEMCG_CMD_SETTLE_H

#include "ledger.h"
#include "maps.h"

/** Between looks at a process that makes calls and is not at its limit. */
#define SETTLE_PERIOD_US 100000

/**
 * settle_grow - charge what a call asks for
 * @thread: whose call it is
 *
 * Before it is refused, processes are looked at whose calls may have taken less than was charged.
 * A process that turns out to account itself is let go.
 *
 * Return: 0; -ENOMEM.
 */
int settle_grow(struct ledger *ledger, struct thread *thread, uint64_t nr_bytes);

/** settle_undo - the call that settle_grow() was for will not be made */
void settle_undo(struct ledger *ledger, struct thread *thread, uint64_t nr_bytes);

/**
 * settle_look - charge what the address space has
 * @giver: thread whose call is to give back what counts between @start and @end; NULL: none
 * @start: of what the call is about
 * @end:   the end of it
 *
 * Looks only if earlier looks at this process have not taken more than a fraction of the time: the
 * cost of a call is bounded, however many mappings there are. The next look will tell.
 *
 * Return: 0; -EAGAIN; -ESRCH if the address space is gone.
 */
int settle_look(struct ledger *ledger, struct process *process, struct thread *giver,
		uint64_t start, uint64_t end, struct maps_look *ret_look);

/** settle_look_now - however long it takes: before a refusal */
int settle_look_now(struct ledger *ledger, struct process *process, struct thread *giver,
		    uint64_t start, uint64_t end, struct maps_look *ret_look);

/** settle_later - the call is allowed, and what it does is to be seen at the next look */
void settle_later(struct process *process);

/** settle_all - look at processes that are due; is there more to be seen, in a period's time? */
bool settle_all(struct ledger *ledger);

#endif
