/* SPDX-License-Identifier: MIT */
/* One block of one workload under the clock: its workers, the gate, times, and the check. */
#ifndef BENCH_METERS_TIME_MEASURE_H
#define BENCH_METERS_TIME_MEASURE_H

#include <stddef.h>

#include "workloads/workload.h"

#define MEASURE_NR_CPUS 256
#define MEASURE_ERROR   160

/* Worker number i runs on CPU number i modulo nr_cpus; with none, wherever the kernel likes. */
struct measure_cpus {
	int cpus[MEASURE_NR_CPUS];
	unsigned int nr_cpus;
};

/**
 * measure_block - run one block
 * @workload:   has a meaning for context->target
 * @context:    filled but for data
 * @cpus:       where the workers run
 * @ret_totals: what it came to
 * @error:      on failure a line, MEASURE_ERROR bytes
 *
 * A block whose counted units differ from what the system says by more than 1 % (and more than the
 * few faults that starting a worker takes) has failed: it is an error, not a number.
 *
 * Return: 0 or a negative errno.
 */
int measure_block(const struct workload *workload, struct workload_context *context,
		  const struct measure_cpus *cpus, struct workload_totals *ret_totals, char *error);

/**
 * measure_calibrate - how many operations of each worker take @seconds
 *
 * Runs blocks of growing size until one is long enough to tell.
 *
 * Return: 0 or a negative errno, as measure_block().
 */
int measure_calibrate(const struct workload *workload, struct workload_context *context,
		      const struct measure_cpus *cpus, double seconds, uint64_t *ret_nr_operations,
		      char *error);

#endif
