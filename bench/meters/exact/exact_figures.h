/* SPDX-License-Identifier: MIT */
/* From what the plug-in counted to figures of one block: instructions an operation. */
#ifndef BENCH_METERS_EXACT_EXACT_FIGURES_H
#define BENCH_METERS_EXACT_EXACT_FIGURES_H

#include "meters/exact/counts.h"
#include "meters/exact/job.h"

/* The figures of a block, each an operation's; in the order in which tables have them. */
enum exact_figure {
	EXACT_MEAN,        /* of the measured tasks, in the target's own space alone */
	EXACT_MODE,        /* the most frequent single operation without an interrupt in it */
	EXACT_MINIMUM,     /* of these */
	EXACT_PUT_OFF,     /* what softirqs and kernel threads did for it, then or later */
	EXACT_INTERRUPTS,  /* what fell into it and is not its own */
	EXACT_IN_KERNEL,   /* of the library's: what its tasks did in the kernel meanwhile */
	EXACT_REPETITIONS, /* rounds of rep prefixes, which EXACT_MEAN has as instructions */
	EXACT_APART,       /* the mean of what finish() does, an operation of its own */
	EXACT_APART_PUT_OFF,
	EXACT_NR_FIGURES,
};

/* Where the instructions of a part were. */
struct exact_symbol {
	uint64_t address;
	char *name;
	bool user;
	uint64_t nr_instructions; /* of tasks and of work put off */
};

/* From one function to another, by their names, which are those of the symbols. */
struct exact_call {
	const char *caller;
	const char *callee;
	uint64_t nr_calls;
	uint64_t nr_instructions; /* of the callee and all it called */
};

struct exact_profile {
	struct exact_symbol *symbols; /* sorted by address */
	size_t nr_symbols;
	struct exact_call *calls; /* none where they were not counted */
	size_t nr_calls;
	uint64_t nr_interrupts; /* instructions in interrupts */
	uint64_t nr_idle;
};

/* What a profile is read from. */
struct exact_profiled {
	const struct count_part *work;
	const struct count_part *grace; /* the grace period behind it, or NULL */
	const struct count_part *quiet; /* one after nothing, or NULL */
};

struct exact_block {
	bool is_measured;
	uint64_t nr_operations;
	uint64_t nr_apart;
	bool has[EXACT_NR_FIGURES];
	double figures[EXACT_NR_FIGURES];
	/* Of layout 0 alone: of the operations, and of what finish() does. */
	struct exact_profile profile;
	struct exact_profile apart;
};

/**
 * exact_figures - the figures of one block
 * @counts:    of its guest
 * @index:     the block's
 * @target:    whose instructions: the kernel's or those of user space
 * @guest:     what the guest said of the block
 * @ret_block: figures, without a profile
 *
 * Return: 0; -ENODATA if the block's operations were not counted.
 */
int exact_figures(const struct counts *counts, unsigned int index, enum workload_target target,
		  const struct guest_block *guest, struct exact_block *ret_block);

/**
 * exact_figures_of_mark - the figures of a part that the user's program marked itself
 * @part:      of any number of blocks; an operation is an iteration, or where none were marked,
 *             what lies between the marks
 * @target:    as for exact_figures()
 * @ret_block: figures, without a profile
 *
 * Return: 0; -ENODATA if there is no operation.
 */
int exact_figures_of_mark(const struct count_part *part, enum workload_target target,
			  struct exact_block *ret_block);

/** exact_is_meters_own - is it a function of the guest's that lies between the marks? */
bool exact_is_meters_own(const struct count_symbol *symbol);

/**
 * exact_profile_read - where the instructions of a part were, and of what it put off
 * @parts:       live counts
 * @ret_profile: copied, for exact_profile_fini()
 *
 * Return: 0; -ENOMEM.
 */
int exact_profile_read(const struct exact_profiled *parts, struct exact_profile *ret_profile);

void exact_profile_fini(struct exact_profile *profile);

#endif
