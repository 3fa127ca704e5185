/* SPDX-License-Identifier: MIT */
/*
 * One pipe made and closed: the shortest way to a handful of objects from accounted caches, an
 * inode, two files and their names, and the pipe itself.
 */
#include <unistd.h>

#include "workloads/workload.h"

static int pipe_run(struct workload_context *context, struct workload_worker *worker,
		    uint64_t nr_operations)
{
	(void)context;
	for (; nr_operations > 0; nr_operations--) {
		int fds[2];

		if (pipe(fds))
			return workload_fail(worker, "pipe");
		close(fds[0]);
		close(fds[1]);
		worker->nr_units++;
	}
	return 0;
}

const struct workload workload_pipe = {
	.name = "pipe",
	.description = "kernel only: a pipe made and closed",
	.title = { [WORKLOAD_KERNEL] = "pipe, made and closed (kernel)" },
	.why_not = { [WORKLOAD_LIB] = "libumemcg has no kernel objects" },
	.workers = WORKLOAD_THREADS,
	.metrics = { { "time per pipe", "ns", WORKLOAD_LOWER, workload_ns_per_unit } },
	.operation = "pipe",
	.nr_operations_exact = 1024,
	.one_by_one = { [WORKLOAD_KERNEL] = true },
	.run = pipe_run,
};
