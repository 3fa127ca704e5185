/* SPDX-License-Identifier: MIT */
/*
 * After AIM9: exec_test starts a program five times, fork_test a child a hundred times. For the
 * library the program is one that is linked with it, so that what it does at start is in the price.
 */
#include <unistd.h>

#include "workloads/process.h"
#include "workloads/workload.h"

static int exec_child(struct workload_context *context)
{
	char *const environment[] = { NULL };

	if (context->target == WORKLOAD_KERNEL)
		execle("/bin/true", "true", (char *)NULL, environment);
	execl(context->program, "true", "--true", (char *)NULL);
	return 127;
}

static int process_run(struct workload_context *context, struct workload_worker *worker,
		       uint64_t nr_processes, int (*child)(struct workload_context *context))
{
	int error = 0;

	for (; nr_processes > 0 && !error; nr_processes--)
		error = process_fork_and_wait(context, worker, child);
	return error;
}

static int exec_test_run(struct workload_context *context, struct workload_worker *worker,
			 uint64_t nr_operations)
{
	return process_run(context, worker, nr_operations * 5, exec_child);
}

static int fork_test_run(struct workload_context *context, struct workload_worker *worker,
			 uint64_t nr_operations)
{
	return process_run(context, worker, nr_operations * 100, process_take_part);
}

#define OPS_METRIC                                                                                 \
	{                                                                                          \
		{                                                                                  \
			"ops/sec", "ops/sec", WORKLOAD_HIGHER, workload_units_per_second           \
		}                                                                                  \
	}

const struct workload workload_exec_test = {
	.name = "exec_test",
	.description = "AIM9: fork, exec of a program that ends at once, wait; five times",
	.title = {
		[WORKLOAD_LIB] = "exec_test (lib: the program is linked with the library)",
		[WORKLOAD_KERNEL] = "exec_test (kernel)",
	},
	.workers = WORKLOAD_PROCESSES,
	.check = WORKLOAD_CHECK_COUNTED,
	.metrics = OPS_METRIC,
	.operation = "exec",
	.nr_operations_exact = 8,
	.run = exec_test_run,
};

const struct workload workload_fork_test = {
	.name = "fork_test",
	.description = "AIM9: fork, exit, wait; a hundred times",
	.title = {
		[WORKLOAD_LIB] = "fork_test (lib: a private copy of the tree)",
		[WORKLOAD_KERNEL] = "fork_test (kernel)",
	},
	.workers = WORKLOAD_PROCESSES,
	.check = WORKLOAD_CHECK_COUNTED,
	.metrics = OPS_METRIC,
	.operation = "fork",
	.nr_operations_exact = 1,
	.worker_setup = process_parent_setup,
	.run = fork_test_run,
};
