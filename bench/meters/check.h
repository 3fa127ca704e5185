/* SPDX-License-Identifier: MIT */
/* The check of every meter: what a workload counted against what the system says happened. */
#ifndef BENCH_METERS_CHECK_H
#define BENCH_METERS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/workload.h"

/* What the workers of a block did, summed up. */
struct check_counts {
	unsigned int nr_workers;
	uint64_t nr_units;   /* as the workload counted */
	uint64_t nr_checked; /* as it was told that they happened */
	uint64_t nr_faults;  /* ru_minflt */
};

/** measure_check - does a count differ by at most 1 %, or by at most @nr_slack? */
bool measure_check(uint64_t nr_counted, uint64_t nr_system, uint64_t nr_slack);

/**
 * check_units - are counted units what the system says, as the workload wants it checked?
 * @error: where they are not, a line of @size bytes says so
 *
 * Few faults more than were counted are no error: starting a worker takes some.
 */
bool check_units(const struct workload *workload, const struct check_counts *counts, char *error,
		 size_t size);

#endif
