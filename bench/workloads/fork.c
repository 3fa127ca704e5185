/* SPDX-License-Identifier: MIT */
/* The first seed's "fork intensive": a child that exits at once, and a parent that waits for it. */
#include "workloads/process.h"
#include "workloads/workload.h"

static int fork_run(struct workload_context *context, struct workload_worker *worker,
		    uint64_t nr_operations)
{
	for (; nr_operations > 0; nr_operations--) {
		int error = process_fork_and_wait(context, worker, process_take_part);

		if (error)
			return error;
	}
	return 0;
}

const struct workload workload_fork = {
	.name = "fork",
	.description = "fork, the child exits at once, the parent waits; parents side by side",
	.title = {
		[WORKLOAD_LIB] = "fork intensive workload (lib: processes of a shared tree)",
		[WORKLOAD_KERNEL] = "fork intensive workload (kernel)",
	},
	.workers = WORKLOAD_PROCESSES,
	.check = WORKLOAD_CHECK_COUNTED,
	.shares_tree = true,
	.metrics = {
		{ "elapsed time", "s", WORKLOAD_LOWER, workload_elapsed },
		{ "time per fork", "us", WORKLOAD_LOWER, workload_us_per_unit },
	},
	.operation = "fork",
	.nr_operations_exact = 64,
	.one_by_one = { [WORKLOAD_LIB] = true, [WORKLOAD_KERNEL] = true },
	.worker_setup = process_parent_setup,
	.run = fork_run,
};
