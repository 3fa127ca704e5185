/* SPDX-License-Identifier: MIT */
/*
 * The marks of a block, around what is counted of it. Their ids are known at run time only, so they
 * are written into the text of this process before it gets there: between two marks there is then
 * nothing of the meter's own but a call. Each function is named counting_ (JOB_COUNTING_PREFIX), by
 * which the little that remains is told from the workload.
 */
#ifndef BENCH_METERS_EXACT_GUEST_COUNTING_H
#define BENCH_METERS_EXACT_GUEST_COUNTING_H

#include "workloads/workload.h"

/**
 * counting_arm - give the marks the ids of block @index
 *
 * Without it they are those of what is not counted. Return: 0 or a negative errno.
 */
int counting_arm(unsigned int index);

/** counting_run - context->nr_operations of a workload, then what they put off; returns run()'s */
int counting_run(const struct workload *workload, struct workload_context *context,
		 struct workload_worker *worker);

/** counting_finish - finish(), then what that put off; returns finish()'s */
int counting_finish(const struct workload *workload, struct workload_context *context,
		    struct workload_worker *worker, uint64_t *ret_nr_apart);

/** counting_quiet - a grace period after nothing */
void counting_quiet(void);

/** counting_rest - a grace period that is not counted */
void counting_rest(void);

#endif
