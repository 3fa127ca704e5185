/* SPDX-License-Identifier: MIT */
/* The check of every meter: what a workload counted against what the system says happened. */
#include "meters/check.h"

#include <inttypes.h>
#include <stdio.h>

/* First touches of a worker's stack and of libc's data, which no workload counts. */
#define NR_FAULTS_SLACK 32

bool measure_check(uint64_t nr_counted, uint64_t nr_system, uint64_t nr_slack)
{
	uint64_t difference =
		nr_counted > nr_system ? nr_counted - nr_system : nr_system - nr_counted;

	return difference <= nr_counted / 100 || difference <= nr_slack;
}

bool check_units(const struct workload *workload, const struct check_counts *counts, char *error,
		 size_t size)
{
	bool faults = workload->check == WORKLOAD_CHECK_FAULTS;
	/* Pages of regions come without a fault each: of those the workload was told. */
	bool told = !faults || counts->nr_checked;
	uint64_t nr_system = told ? counts->nr_checked : counts->nr_faults;
	uint64_t nr_slack = !told ? NR_FAULTS_SLACK * counts->nr_workers : 0;

	if (workload->check == WORKLOAD_UNCHECKED ||
	    measure_check(counts->nr_units, nr_system, nr_slack))
		return true;
	snprintf(error, size, "counted %" PRIu64 " %s, the system says %" PRIu64, counts->nr_units,
		 faults ? "faults" : "units", nr_system);
	return false;
}
