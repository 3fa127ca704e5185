/* SPDX-License-Identifier: MIT */
/*
 * After AIM9: the break is raised by a mebibyte, and then 64 KiB of it are given back and taken
 * again in steps of 4 KiB, over and over. page_test writes what it takes, brk_test does not. The
 * units are AIM9's credits, one a step and one a release.
 */
#include <errno.h>
#include <unistd.h>

#include "workloads/workload.h"

#define STEP     4096
#define NR_STEPS 16
#define CREDITS  (NR_STEPS + 1)

/* sbrk() is the process's, so workers are processes; nothing here may allocate meanwhile. */
static int brk_loops(struct workload_worker *worker, unsigned int nr_loops, bool write)
{
	char *start = sbrk(1 << 20);

	if (start == (char *)-1)
		return workload_fail(worker, "sbrk");
	for (unsigned int loop = 0; loop < nr_loops; loop++) {
		if (sbrk(-STEP * NR_STEPS) == (char *)-1)
			return workload_fail(worker, "sbrk");
		for (unsigned int step = 0; step < NR_STEPS; step++) {
			volatile char *taken = sbrk(STEP);

			if (taken == (char *)-1)
				return workload_fail(worker, "sbrk");
			for (unsigned int i = 0; write && i < STEP; i += 128)
				taken[i] = 1;
		}
	}
	if (brk(start))
		return workload_fail(worker, "brk");
	worker->nr_units += nr_loops * CREDITS;
	return 0;
}

static int page_test_run(struct workload_context *context, struct workload_worker *worker,
			 uint64_t nr_operations)
{
	int error = 0;

	(void)context;
	for (; nr_operations > 0 && !error; nr_operations--)
		error = brk_loops(worker, 100, true);
	return error;
}

static int brk_test_run(struct workload_context *context, struct workload_worker *worker,
			uint64_t nr_operations)
{
	int error = 0;

	(void)context;
	for (; nr_operations > 0 && !error; nr_operations--)
		error = brk_loops(worker, 1000, false);
	return error;
}

#define OPS_METRIC                                                                                 \
	{                                                                                          \
		{                                                                                  \
			"ops/sec", "ops/sec", WORKLOAD_HIGHER, workload_units_per_second           \
		}                                                                                  \
	}
#define NO_BRK "libumemcg does not count the break of a program that is not preloaded"

const struct workload workload_page_test = {
	.name = "page_test",
	.description = "AIM9: the break down by 64 KiB and up by 16 pages that are written",
	.title = { [WORKLOAD_KERNEL] = "page_test (kernel)" },
	.why_not = { [WORKLOAD_LIB] = NO_BRK },
	.workers = WORKLOAD_PROCESSES,
	.metrics = OPS_METRIC,
	.operation = "credit",
	.nr_operations_exact = 4,
	.run = page_test_run,
};

const struct workload workload_brk_test = {
	.name = "brk_test",
	.description = "AIM9: the same without writing",
	.title = { [WORKLOAD_KERNEL] = "brk_test (kernel)" },
	.why_not = { [WORKLOAD_LIB] = NO_BRK },
	.workers = WORKLOAD_PROCESSES,
	.metrics = OPS_METRIC,
	.operation = "credit",
	.nr_operations_exact = 1,
	.run = brk_test_run,
};
