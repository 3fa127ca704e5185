/* SPDX-License-Identifier: MIT */
/*
 * In which context the processor executes: that of the task that runs, or of the interrupts and
 * softirqs that lie above it, each inside of the one before. Whenever it changes, what was counted
 * is booked for the context that ends.
 */
#ifndef EXACT_PLUGIN_CONTEXTS_H
#define EXACT_PLUGIN_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

/** contexts_interrupt - the next instruction is the first of an interrupt */
void contexts_interrupt(void);

/**
 * contexts_exception - the next instruction is the first of an exception's handler
 *
 * It belongs to the context that it interrupts; but its end must not pass for an interrupt's.
 */
void contexts_exception(void);

/** contexts_interrupt_exit - the innermost interrupt or exception was handled */
void contexts_interrupt_exit(void);

/** contexts_softirq - the next instruction is the first of the function that handles softirqs */
void contexts_softirq(void);

/** contexts_softirq_end - the next instruction, of @symbol, is that function's last */
void contexts_softirq_end(uint32_t symbol);

/** contexts_task - a task of that context runs now, below interrupts and softirqs */
void contexts_task(unsigned int context);

/** contexts_switch - there is another task now; interrupts and softirqs do not switch tasks */
void contexts_switch(unsigned int context);

/** contexts_user - the running task executes in user space */
void contexts_user(void);

/** contexts_nr_unpaired - ends without a beginning, and the other way round, while counting */
uint64_t contexts_nr_unpaired(void);

#endif
