/* SPDX-License-Identifier: MIT */
/*
 * Stacks: threads created and joined, one after another. For the library each has a charged stack;
 * for the kernel it is the task's own stack and structures that are counted.
 */
#include <errno.h>
#include <pthread.h>

#include <umemcg.h>

#include "workloads/workload.h"

static void *stack_thread(void *arg)
{
	return arg;
}

static int stack_run(struct workload_context *context, struct workload_worker *worker,
		     uint64_t nr_operations)
{
	for (; nr_operations > 0; nr_operations--) {
		pthread_t thread;
		void *returned = NULL;
		int error;

		if (context->target == WORKLOAD_LIB)
			error = umemcg_thread_create(&thread, NULL, stack_thread, worker);
		else
			error = -pthread_create(&thread, NULL, stack_thread, worker);
		if (error) {
			worker->failed = "thread_create";
			return error;
		}
		pthread_join(thread, &returned);
		worker->nr_units++;
		worker->nr_checked += returned == worker;
	}
	return 0;
}

const struct workload workload_stack = {
	.name = "stack",
	.description = "threads created and joined (lib: on charged stacks)",
	.title = {
		[WORKLOAD_LIB] = "stack, threads created and joined (lib)",
		[WORKLOAD_KERNEL] = "stack, tasks created and ended (kernel)",
	},
	.workers = WORKLOAD_PROCESSES,
	.check = WORKLOAD_CHECK_COUNTED,
	.metrics = { { "threads/sec", "threads/sec", WORKLOAD_HIGHER, workload_units_per_second } },
	.operation = "thread",
	.nr_operations_exact = 256,
	.one_by_one = { [WORKLOAD_LIB] = true, [WORKLOAD_KERNEL] = true },
	.run = stack_run,
};
