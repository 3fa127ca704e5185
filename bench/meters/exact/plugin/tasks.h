/* SPDX-License-Identifier: MIT */
/*
 * Tasks of the guest. One is known by the address at which the kernel keeps its stack pointer,
 * which lies inside its task_struct: switching to it is the load from there. Whether a task ever
 * runs user code shows only later, so what a new one does at first is undecided.
 */
#ifndef EXACT_PLUGIN_TASKS_H
#define EXACT_PLUGIN_TASKS_H

#include <stdbool.h>
#include <stdint.h>

struct call_stack;

void tasks_init(void);

/**
 * tasks_switch_access - the kernel's function that switches tasks reads or writes memory
 *
 * Its last write before its first read saves the stack pointer of the task that stops.
 */
void tasks_switch_access(bool writes, uint64_t address);

/** tasks_switch_begin - that function's first instruction is next */
void tasks_switch_begin(void);

/** tasks_new - the running task begins here */
void tasks_new(void);

/** tasks_kernel_thread - the running task is a kernel thread; it may still become a program */
void tasks_kernel_thread(void);

/** tasks_idle - the running task is the idle task */
void tasks_idle(void);

/** tasks_user - the running task executes user code, or is about to */
void tasks_user(void);

/** tasks_end - the running task will not run again once it has switched */
void tasks_end(void);

/** tasks_each_calls - do something with the call stack of each task that has one */
void tasks_each_calls(void (*visit)(struct call_stack *stack));

/** tasks_nr_lost - switches from another task than the one that was thought to run */
uint64_t tasks_nr_lost(void);

#endif
