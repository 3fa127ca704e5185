/* SPDX-License-Identifier: MIT */
/* From what the plug-in counted to figures of one block: instructions an operation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "meters/exact/exact_figures.h"

/* Single operations of which fewer than this part are equal have no usual cost. */
#define MODE_PART 4

static void set(struct exact_block *block, enum exact_figure figure, double value)
{
	block->has[figure] = true;
	block->figures[figure] = value;
}

static uint64_t sum_of(const struct counts *counts, unsigned int index, enum job_part part,
		       enum count_context context)
{
	const struct count_part *counted = counts_part(counts, job_part_id(index, part));

	return counted ? count_part_sum(counted, context, false) : 0;
}

/*
 * What was put off by a part is what softirqs and kernel threads did in it and in the grace period
 * behind it, less what they do in a grace period anyway.
 */
static double put_off(const struct counts *counts, unsigned int index, enum job_part part,
		      enum job_part grace)
{
	uint64_t done = sum_of(counts, index, part, COUNT_DEFERRED) +
			sum_of(counts, index, grace, COUNT_DEFERRED);
	uint64_t quiet = sum_of(counts, index, JOB_PART_QUIET, COUNT_DEFERRED);

	return done > quiet ? (double)(done - quiet) : 0;
}

bool exact_is_meters_own(const struct count_symbol *symbol)
{
	return symbol->user &&
	       !strncmp(symbol->name, JOB_COUNTING_PREFIX, strlen(JOB_COUNTING_PREFIX));
}

/* Instructions of the measured tasks, less those of the meter's own between the marks. */
static uint64_t tasks_of(const struct count_part *part, bool user, uint64_t *ret_nr_own)
{
	uint64_t nr_own = 0;

	for (size_t i = 0; user && i < part->nr_symbols; i++) {
		if (exact_is_meters_own(&part->symbols[i]))
			nr_own += part->symbols[i].nr_instructions[COUNT_TASK];
	}
	*ret_nr_own = nr_own;
	return count_part_sum(part, COUNT_TASK, user) - nr_own;
}

static uint64_t repetitions_of(const struct count_part *part, bool user)
{
	uint64_t nr_repetitions = 0;

	for (size_t i = 0; i < part->nr_symbols; i++) {
		if (part->symbols[i].user == user)
			nr_repetitions += part->symbols[i].nr_repetitions[COUNT_TASK];
	}
	return nr_repetitions;
}

static int by_value(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Mode and minimum of the iterations into which no interrupt fell. */
static void set_iterations(struct exact_block *block, const struct count_part *part, bool user,
			   uint64_t nr_own)
{
	uint64_t *clean = calloc(part->nr_iterations + 1, sizeof(*clean));
	uint64_t own = part->nr_iterations ? nr_own / part->nr_iterations : 0, mode = 0;
	size_t nr_clean = 0, nr_mode = 0, nr_equal = 0;

	for (size_t i = 0; clean && i < part->nr_iterations; i++) {
		const struct count_iteration *iteration = &part->iterations[i];
		uint64_t nr = user ? iteration->nr_user : iteration->nr_kernel;

		if (!iteration->nr_interrupts)
			clean[nr_clean++] = nr > own ? nr - own : 0;
	}
	if (nr_clean) {
		qsort(clean, nr_clean, sizeof(*clean), by_value);
		set(block, EXACT_MINIMUM, (double)clean[0]);
	}
	for (size_t i = 0; i < nr_clean; i++) {
		nr_equal = i && clean[i] == clean[i - 1] ? nr_equal + 1 : 1;
		if (nr_equal > nr_mode) {
			nr_mode = nr_equal;
			mode = clean[i];
		}
	}
	/* One alone is equal to none, however few there are. */
	if (nr_mode > 1 && nr_mode * MODE_PART >= nr_clean)
		set(block, EXACT_MODE, (double)mode);
	free(clean);
}

/* What can be said of a part alone, whatever follows it. */
static void set_part(struct exact_block *block, const struct count_part *part,
		     enum workload_target target)
{
	double nr = (double)block->nr_operations;
	bool user = target == WORKLOAD_LIB;
	uint64_t nr_own;

	set(block, EXACT_MEAN, (double)tasks_of(part, user, &nr_own) / nr);
	set_iterations(block, part, user, nr_own);
	set(block, EXACT_REPETITIONS, (double)repetitions_of(part, user) / nr);
	if (user)
		set(block, EXACT_IN_KERNEL, (double)count_part_sum(part, COUNT_TASK, false) / nr);
	else
		set(block, EXACT_INTERRUPTS,
		    (double)count_part_sum(part, COUNT_INTERRUPT, false) / nr);
}

int exact_figures(const struct counts *counts, unsigned int index, enum workload_target target,
		  const struct guest_block *guest, struct exact_block *ret_block)
{
	const struct count_part *run = counts_part(counts, job_part_id(index, JOB_PART_RUN));
	const struct count_part *apart = counts_part(counts, job_part_id(index, JOB_PART_APART));
	struct exact_block block = { .is_measured = true,
				     .nr_operations = guest->nr_operations,
				     .nr_apart = guest->nr_apart };
	double nr = (double)guest->nr_operations, nr_apart = (double)guest->nr_apart;
	bool user = target == WORKLOAD_LIB;
	uint64_t nr_own;

	if (!run || !guest->nr_operations)
		return -ENODATA;
	set_part(&block, run, target);
	/* A library leaves no work to softirqs. */
	if (!user)
		set(&block, EXACT_PUT_OFF,
		    put_off(counts, index, JOB_PART_RUN, JOB_PART_DEFERRED) / nr);
	if (apart && guest->nr_apart)
		set(&block, EXACT_APART, (double)tasks_of(apart, user, &nr_own) / nr_apart);
	if (apart && guest->nr_apart && !user)
		set(&block, EXACT_APART_PUT_OFF,
		    put_off(counts, index, JOB_PART_APART, JOB_PART_APART_DEFERRED) / nr_apart);
	*ret_block = block;
	return 0;
}

int exact_figures_of_mark(const struct count_part *part, enum workload_target target,
			  struct exact_block *ret_block)
{
	struct exact_block block = { .is_measured = true,
				     .nr_operations = part->nr_iterations ? part->nr_iterations
									  : part->nr_entered };

	if (!block.nr_operations)
		return -ENODATA;
	set_part(&block, part, target);
	*ret_block = block;
	return 0;
}
