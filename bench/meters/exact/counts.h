/* SPDX-License-Identifier: MIT */
/*
 * What the counting plug-in counted in one guest, as it leaves it in a file of lines:
 *
 *	umemcg-counts 1
 *	part ID NR_ENTERED NR_INTERRUPTS
 *	symbol ID CONTEXT ADDRESS NR_INSTRUCTIONS NR_REPETITIONS NAME
 *	iteration ID NR_KERNEL NR_USER NR_INTERRUPTS
 *	call ID CALLER_ADDRESS CALLEE_ADDRESS NR_CALLS NR_INSTRUCTIONS
 *	end			without it, the guest was cut short
 *
 * A part is what ran from a mark of that id to the next mark (umemcg-marks.h); the marks themselves
 * are not counted. The last line is there only if no part was open when the guest ended. Addresses
 * are hexadecimal. An instruction belongs to one context: that of the tasks that are measured, of
 * interrupts, of work put off (softirqs, kernel threads), or of the idle task. "[user]" is the
 * symbol of user space where its program has no symbols, "[unknown]" that of kernel text without
 * one. Lines of a part follow its part line.
 *
 * The emulator executes a string instruction with a rep prefix once for each of its rounds and once
 * more to find its counter at zero, and each time counts as an instruction. NR_REPETITIONS are the
 * rounds, so that NR_INSTRUCTIONS - NR_REPETITIONS counts such an instruction once, however long it
 * is and however often it was interrupted. Only cmps and scas, which may end before their counter
 * does, are repetitions each time, and so not in the difference at all. An instruction that faults
 * counts each time it is tried.
 */
#ifndef BENCH_METERS_EXACT_COUNTS_H
#define BENCH_METERS_EXACT_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTS_FIRST_LINE "umemcg-counts 1"
#define COUNTS_ERROR      256

enum count_context {
	COUNT_TASK,      /* "task" */
	COUNT_INTERRUPT, /* "interrupt" */
	COUNT_DEFERRED,  /* "deferred": softirqs and kernel threads */
	COUNT_IDLE,      /* "idle" */
	COUNT_NR_CONTEXTS,
};

struct count_symbol {
	uint64_t address; /* of its first byte; 0 for "[user]" and "[unknown]" */
	char *name;
	bool user; /* lies in user space */
	uint64_t nr_instructions[COUNT_NR_CONTEXTS];
	uint64_t nr_repetitions[COUNT_NR_CONTEXTS]; /* of these, rounds of rep prefixes */
};

/* One operation, task context alone. */
struct count_iteration {
	uint64_t nr_kernel;
	uint64_t nr_user;
	uint64_t nr_interrupts; /* that fell into it: 0 for a clean one */
};

/*
 * Calls from one function to another, in task context; only where they were asked for. A jump to
 * another function's first instruction is a call by the function that jumps. System calls and
 * exceptions have no caller.
 */
struct count_call {
	uint64_t caller; /* addresses of symbols; 0 where the caller was not seen */
	uint64_t callee;
	uint64_t nr_calls;
	uint64_t nr_instructions; /* of the callee and all it called */
};

struct count_part {
	unsigned int id;
	uint64_t nr_entered;
	uint64_t nr_interrupts;
	struct count_symbol *symbols; /* sorted by address; "[user]" and "[unknown]" come first */
	size_t nr_symbols;
	struct count_iteration *iterations;
	size_t nr_iterations;
	struct count_call *calls;
	size_t nr_calls;
};

struct counts {
	struct count_part *parts; /* sorted by id */
	size_t nr_parts;
};

/**
 * counts_read - read the plug-in's file
 * @path:       file
 * @ret_counts: for counts_destroy()
 * @error:      on failure one line, COUNTS_ERROR bytes
 *
 * Return: 0; -ENODATA if the last line is missing; -EPROTO for a line of another form; -ENOMEM; the
 * errno of opening or reading it.
 */
int counts_read(const char *path, struct counts **ret_counts, char *error);

/** counts_destroy - free them; may be NULL */
void counts_destroy(struct counts *counts);

/** counts_part - the part of that id, or NULL if its mark was never met */
const struct count_part *counts_part(const struct counts *counts, unsigned int id);

/** count_part_sum - instructions of a part in one context, in kernel space or in user space */
uint64_t count_part_sum(const struct count_part *part, enum count_context context, bool user);

#endif
