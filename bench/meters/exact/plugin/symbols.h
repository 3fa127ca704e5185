/* SPDX-License-Identifier: MIT */
/*
 * Functions of the guest, of its kernel and of the program in it, and what part some of them play.
 * They are known by their numbers: [0] is user space without a symbol, [1] kernel text without one,
 * the rest follow by address.
 */
#ifndef EXACT_PLUGIN_SYMBOLS_H
#define EXACT_PLUGIN_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SYMBOL_USER,
	SYMBOL_UNKNOWN,
	SYMBOL_FIRST,
};

/* The parts that functions of the kernel play, told by their names. */
enum symbol_role {
	ROLE_NONE,
	ROLE_INTERRUPT,      /* where the processor goes for an interrupt */
	ROLE_EXCEPTION,      /* ... for an exception that ends as interrupts do */
	ROLE_ENTRY,          /* ... for another exception, or for a system call */
	ROLE_INTERRUPT_EXIT, /* an interrupt or exception was handled */
	ROLE_SOFTIRQ,        /* handles softirqs until it returns */
	ROLE_SWITCH,         /* from one task's stack to the next task's */
	ROLE_NEW_TASK,       /* where a new task begins */
	ROLE_KERNEL_THREAD,  /* run by kernel threads alone */
	ROLE_IDLE_TASK,      /* run by the idle task alone */
	ROLE_USER_RETURN,    /* on the way to user space */
	ROLE_TASK_END,       /* run by a task that will not run again */
	ROLE_THUNK,          /* stands between a call and its target, or its return */
	ROLE_NR,
};

struct symbol {
	uint64_t address;
	const char *name;
	enum symbol_role role;
};

/**
 * symbols_load - read lines of "HEXADDRESS NAME", in any order
 * @path: file
 *
 * Return: false, having complained, if it cannot be read, a line is of another form, or one of the
 * functions is missing without which contexts cannot be told apart.
 */
bool symbols_load(const char *path);

/** symbols_nr - one more than the highest number */
uint32_t symbols_nr(void);

/** symbol_at - by number */
const struct symbol *symbol_at(uint32_t number);

/**
 * symbols_find - what function an instruction belongs to
 * @address: of the instruction
 * @ret_end: the answer holds up to here
 *
 * Return: its number. Code far beyond the last function before it (modules, generated code, vdso)
 * has no symbol.
 */
uint32_t symbols_find(uint64_t address, uint64_t *ret_end);

/** address_is_user - does it lie in the lower half of the address space? */
static inline bool address_is_user(uint64_t address)
{
	return !(address >> 63);
}

/** symbol_is_user - does it lie in user space? */
bool symbol_is_user(uint32_t number);

#endif
