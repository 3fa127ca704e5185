/* SPDX-License-Identifier: MIT */
/* Starting and awaiting a child, as all workloads that fork do it. */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <umemcg.h>

#include "workloads/process.h"

int process_fork_and_wait(struct workload_context *context, struct workload_worker *worker,
			  int (*child)(struct workload_context *context))
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return workload_fail(worker, "fork");
	if (pid == 0)
		_exit(child(context));
	worker->nr_units++;
	while (waitpid(pid, &status, 0) != pid) {
		if (errno != EINTR)
			return workload_fail(worker, "waitpid");
	}
	worker->nr_checked++;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		worker->failed = "the child";
		return -ECHILD;
	}
	return 0;
}

int process_take_part(struct workload_context *context)
{
	void *object;

	if (context->target != WORKLOAD_LIB)
		return 0;
	object = umemcg_malloc(64);
	if (!object)
		return 1;
	*(volatile char *)object = 1;
	umemcg_free(object);
	return 0;
}

int process_parent_setup(struct workload_context *context, struct workload_worker *worker)
{
	if (!process_take_part(context))
		return 0;
	worker->failed = "umemcg_malloc";
	return -ENOMEM;
}
