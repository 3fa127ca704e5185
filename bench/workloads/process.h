/* SPDX-License-Identifier: MIT */
/* Starting and awaiting a child, as all workloads that fork do it. */
#ifndef BENCH_WORKLOADS_PROCESS_H
#define BENCH_WORKLOADS_PROCESS_H

#include <stdint.h>

#include "workloads/workload.h"

/** process_fork_and_wait - one child that runs @child and exits with what that returns
 *
 * Counts a unit for the fork and a check for the wait. The child never returns from here.
 *
 * Return: 0; a negative errno; -ECHILD if the child did not exit with 0.
 */
int process_fork_and_wait(struct workload_context *context, struct workload_worker *worker,
			  int (*child)(struct workload_context *context));

/**
 * process_parent_setup - worker_setup() of a parent that uses the library itself
 *
 * Otherwise each child would be the first to use it, and pay for its start.
 */
int process_parent_setup(struct workload_context *context, struct workload_worker *worker);

/** process_take_part - for `lib`: what makes a child a user of the library, one object; returns 0
 */
int process_take_part(struct workload_context *context);

#endif
