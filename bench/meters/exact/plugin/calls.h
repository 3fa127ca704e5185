/* SPDX-License-Identifier: MIT */
/*
 * Calls in task context, by a shadow of each task's stack. A call shows as the write of its return
 * address, a return as the read of it, so that the shadow finds its way back after longjmp() or a
 * change of stacks. A jump to another function's first instruction is a call by the one that jumps,
 * and both return together. System calls, exceptions and interrupts have no caller (SYMBOL_USER).
 *
 * Stacks begin empty when a part is opened: nothing is followed while none is.
 */
#ifndef EXACT_PLUGIN_CALLS_H
#define EXACT_PLUGIN_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "call_table.h"

struct call_stack;

/** calls_init - calls are wanted; without this, all the rest does nothing */
void calls_init(void);

/** calls_executed - the cell to which each counted instruction adds one; NULL if none are wanted */
uint64_t *calls_executed(void);

/** calls_create - the stack of a task; NULL if no calls are wanted */
struct call_stack *calls_create(void);

void calls_destroy(struct call_stack *stack);

/** calls_open - a part is opened: book calls here */
void calls_open(struct call_table *table);

/** calls_close - book what the calls that have not returned have taken so far */
void calls_close(void);

/** calls_context - the context of what runs changes to this one */
void calls_context(unsigned int context);

/** calls_switch - another task runs, whose context was set before */
void calls_switch(struct call_stack *stack);

/** calls_end - the running task will not run again */
void calls_end(void);

/** calls_decide - whether the running task, of which it was not known, runs user code */
void calls_decide(bool user);

/** calls_called - an instruction of @caller has written a return address to @slot */
void calls_called(uint32_t caller, uint64_t slot);

/** calls_entered - the first instruction of a function is next, however it was reached */
void calls_entered(uint32_t callee);

/** calls_returned - a return address was read from @slot */
void calls_returned(uint64_t slot);

/** calls_kernel_return - a system call, exception or interrupt is over with the next instruction */
void calls_kernel_return(void);

#endif
