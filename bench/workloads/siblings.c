/* SPDX-License-Identifier: MIT */
/*
 * One CPU rotating among sibling groups, so that whatever is charged ahead for one of them is of no
 * use to the next. For the library a thread goes from group to group; for the kernel a token goes
 * round a ring of tasks on one CPU, each in its own group, each charging a pipe when it holds it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include <umemcg.h>

#include "workloads/cgroup_files.h"
#include "workloads/workload.h"

#define NR_BYTES        256
#define NR_SIBLINGS_MAX 36

struct siblings {
	struct umemcg *groups[NR_SIBLINGS_MAX];
	pid_t tasks[NR_SIBLINGS_MAX];
	int first; /* the ring's first pipe, to be written */
	int last;  /* its last one, to be read */
};

/* Without a group in use there is nothing to rotate among: all of them are the root. */
static int lib_setup(struct workload_context *context, struct workload_worker *worker,
		     struct siblings *siblings)
{
	struct umemcg *parent = umemcg_current();

	for (uint64_t i = 0; i < context->value; i++) {
		int error = 0;

		siblings->groups[i] = parent;
		if (umemcg_parent(parent))
			error = umemcg_create(parent, NULL, &siblings->groups[i]);
		if (error) {
			worker->failed = "umemcg_create";
			return error;
		}
	}
	return 0;
}

static void task_run(int in, int out)
{
	char token;

	while (read(in, &token, 1) == 1) {
		int fds[2];

		if (pipe(fds))
			_exit(1);
		close(fds[0]);
		close(fds[1]);
		if (write(out, &token, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* Starts the ring's task number @i between the pipe it reads and the pipe it writes. */
static int task_start(struct workload_context *context, struct workload_worker *worker,
		      struct siblings *siblings, unsigned int i, int in, int out)
{
	char name[16];
	pid_t pid = fork();

	if (pid < 0)
		return workload_fail(worker, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(siblings->first);
		task_run(in, out);
	}
	siblings->tasks[i] = pid;
	/* Without a group in use all tasks stay in the root. */
	if (!context->cgroup || !context->depth)
		return 0;
	snprintf(name, sizeof(name), "s%u", i);
	return cgroup_files_put(context->cgroup, name, pid, worker);
}

static int kernel_setup(struct workload_context *context, struct workload_worker *worker,
			struct siblings *siblings)
{
	int fds[2], error = 0;

	if (pipe(fds))
		return workload_fail(worker, "pipe");
	siblings->first = fds[1];
	siblings->last = fds[0];
	for (unsigned int i = 0; i < context->value && !error; i++) {
		if (pipe(fds))
			return workload_fail(worker, "pipe");
		error = task_start(context, worker, siblings, i, siblings->last, fds[1]);
		close(siblings->last);
		close(fds[1]);
		siblings->last = fds[0];
	}
	return error;
}

static int siblings_setup(struct workload_context *context, struct workload_worker *worker)
{
	struct siblings *siblings = calloc(1, sizeof(*siblings));

	if (!siblings)
		return workload_fail(worker, "calloc");
	siblings->first = siblings->last = -1;
	context->data = siblings;
	if (context->target == WORKLOAD_LIB)
		return lib_setup(context, worker, siblings);
	return kernel_setup(context, worker, siblings);
}

/* One operation is once round the ring. */
static int siblings_run(struct workload_context *context, struct workload_worker *worker,
			uint64_t nr_operations)
{
	const struct siblings *siblings = context->data;
	char token = 0;

	for (; nr_operations > 0; nr_operations--) {
		worker->nr_units += context->value;
		if (context->target == WORKLOAD_KERNEL) {
			if (write(siblings->first, &token, 1) != 1)
				return workload_fail(worker, "write");
			if (read(siblings->last, &token, 1) != 1)
				return workload_fail(worker, "read");
			continue;
		}
		for (unsigned int i = 0; i < context->value; i++) {
			int error = umemcg_try_charge(siblings->groups[i], NR_BYTES);

			if (error) {
				worker->failed = "umemcg_try_charge";
				return error;
			}
			umemcg_uncharge(siblings->groups[i], NR_BYTES);
		}
	}
	return 0;
}

/* Closing the first pipe ends the tasks one after another. */
static void siblings_teardown(struct workload_context *context)
{
	struct siblings *siblings = context->data;
	char name[16];

	if (!siblings)
		return;
	if (context->target == WORKLOAD_KERNEL) {
		close(siblings->first);
		close(siblings->last);
		for (unsigned int i = 0; i < context->value; i++) {
			if (siblings->tasks[i])
				waitpid(siblings->tasks[i], NULL, 0);
			snprintf(name, sizeof(name), "s%u", i);
			if (context->cgroup && context->depth)
				cgroup_files_remove(context->cgroup, name);
		}
	}
	free(siblings);
}

const struct workload workload_siblings = {
	.name = "siblings",
	.description = "one CPU rotating among sibling groups",
	.title = {
		[WORKLOAD_LIB] = "siblings, a charge in one group after another (lib)",
		[WORKLOAD_KERNEL] = "siblings, a token passed among tasks that charge a pipe (kernel)",
	},
	.workers = WORKLOAD_ALONE,
	.metrics = { { "time per charge", "ns", WORKLOAD_LOWER, workload_ns_per_unit } },
	.parameter = "groups",
	.values = { 1, 6, 12, 36 },
	.nr_values = 4,
	.nr_values_quick = 4,
	.makes_groups = true,
	.operation = "charge",
	.nr_operations_exact = 64,
	.setup = siblings_setup,
	.run = siblings_run,
	.teardown = siblings_teardown,
};
