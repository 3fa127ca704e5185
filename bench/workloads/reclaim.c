/* SPDX-License-Identifier: MIT */
/*
 * At the limit: memory of N times a group's limit is written at random, a word a page, so that each
 * page that comes back drives another one out. Pages are half random, so that they shrink, but not
 * to nothing; each is held against what was written there last. The kernel's pages are a task's in
 * a group of its own, with the same limit; they go to the machine's swap.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <umemcg.h>

#include "workloads/cgroup_files.h"
#include "workloads/user_pages.h"
#include "workloads/workload.h"

#define NR_BYTES_MAX ((uint64_t)16 << 20)
#define GROUP        "reclaim"

struct reclaim {
	uint64_t nr_pages, page_size;
	char *pages;
	uint64_t *written; /* what stands in each page's first word */
	struct umemcg *group;
	struct umemcg *parent;
	uint64_t nr_refaulted; /* while it is measured */
	pid_t task;            /* kernel */
	int ask, answer;
};

/* What the task is asked, and answers. */
struct message {
	uint64_t nr_operations, random, nr_refaulted;
	bool is_wrong;
};

/* Half of a page's words are random. */
static void fill(struct workload_worker *worker, struct reclaim *reclaim)
{
	for (uint64_t page = 0; page < reclaim->nr_pages; page++) {
		uint64_t *words = (uint64_t *)(reclaim->pages + page * reclaim->page_size);

		for (uint64_t i = 0; i < reclaim->page_size / sizeof(*words) / 2; i++)
			words[i] = workload_random(worker);
		reclaim->written[page] = words[0];
	}
}

/* False if a page is not what was written. */
static bool touch(struct workload_worker *worker, struct reclaim *reclaim, uint64_t nr_operations)
{
	for (; nr_operations > 0; nr_operations--) {
		uint64_t page = workload_random(worker) % reclaim->nr_pages;
		uint64_t *words = (uint64_t *)(reclaim->pages + page * reclaim->page_size);

		if (words[0] != reclaim->written[page])
			return false;
		words[0] = reclaim->written[page] = worker->random;
	}
	return true;
}

static uint64_t nr_major_faults(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) ? 0 : (uint64_t)usage.ru_majflt;
}

/* Pages that came back, by the group's memory.stat; 0 where there is none. */
static uint64_t nr_came_back(struct umemcg *group)
{
	static const char *const keys[] = { "\nzswpin ", "\npswpin " };
	char text[1024];
	uint64_t nr = 0;

	if (umemcg_read(group, "memory.stat", text, sizeof(text)) < 0)
		return 0;
	for (unsigned int i = 0; i < 2; i++) {
		const char *found = strstr(text, keys[i]);

		nr += found ? strtoull(found + strlen(keys[i]), NULL, 10) : 0;
	}
	return nr;
}

static void task_run(struct workload_worker *worker, struct reclaim *reclaim, int ask, int answer)
{
	struct message message;

	fill(worker, reclaim);
	while (read(ask, &message, sizeof(message)) == sizeof(message)) {
		uint64_t before = nr_major_faults();

		worker->random = message.random;
		message.is_wrong = !touch(worker, reclaim, message.nr_operations);
		message.nr_refaulted = nr_major_faults() - before;
		if (write(answer, &message, sizeof(message)) != sizeof(message))
			break;
	}
	_exit(0);
}

static int kernel_setup(struct workload_context *context, struct workload_worker *worker,
			struct reclaim *reclaim)
{
	int ask[2], answer[2], error;

	if (pipe(ask) || pipe(answer))
		return workload_fail(worker, "pipe");
	reclaim->ask = ask[1];
	reclaim->answer = answer[0];
	error = cgroup_files_make(context->cgroup, GROUP, worker);
	if (!error)
		error = cgroup_files_limit(context->cgroup, GROUP, NR_BYTES_MAX, worker);
	if (error)
		return error;
	reclaim->task = fork();
	if (reclaim->task < 0)
		return workload_fail(worker, "fork");
	if (!reclaim->task) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ask[1]);
		if (cgroup_files_put(context->cgroup, GROUP, getpid(), worker))
			_exit(1);
		task_run(worker, reclaim, ask[0], answer[1]);
	}
	close(ask[0]);
	close(answer[1]);
	return 0;
}

static int lib_setup(struct workload_context *context, struct workload_worker *worker,
		     struct reclaim *reclaim)
{
	uint64_t nr_bytes = reclaim->nr_pages * reclaim->page_size;
	int error;

	(void)context;
	reclaim->parent = umemcg_current();
	error = umemcg_create(reclaim->parent, NULL, &reclaim->group);
	if (!error && umemcg_state() == UMEMCG_ENABLED)
		error = umemcg_set_max(reclaim->group, NR_BYTES_MAX);
	if (!error)
		error = umemcg_set_swap("/tmp", nr_bytes);
	if (error)
		worker->failed = "a group with a limit, and a swap file";
	return error;
}

static int reclaim_setup(struct workload_context *context, struct workload_worker *worker)
{
	struct reclaim *reclaim = calloc(1, sizeof(*reclaim));
	int error;

	if (!reclaim)
		return workload_fail(worker, "calloc");
	context->data = reclaim;
	reclaim->ask = reclaim->answer = -1;
	reclaim->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	reclaim->nr_pages = context->value * NR_BYTES_MAX / reclaim->page_size;
	reclaim->written = calloc(reclaim->nr_pages, sizeof(*reclaim->written));
	if (!reclaim->written)
		return workload_fail(worker, "calloc");
	if (context->target == WORKLOAD_LIB) {
		error = lib_setup(context, worker, reclaim);
		if (error)
			return error;
		umemcg_enter(reclaim->group);
	}
	error = user_pages_map(context, worker, reclaim->nr_pages * reclaim->page_size,
			       (void **)&reclaim->pages);
	if (error)
		return error;
	if (context->target == WORKLOAD_KERNEL)
		return kernel_setup(context, worker, reclaim);
	fill(worker, reclaim);
	return 0;
}

/* In the task; a short answer is one that was killed. */
static int kernel_run(struct reclaim *reclaim, struct workload_worker *worker,
		      struct message *message)
{
	if (write(reclaim->ask, message, sizeof(*message)) != sizeof(*message))
		return workload_fail(worker, "write to the task");
	errno = ECHILD;
	if (read(reclaim->answer, message, sizeof(*message)) != sizeof(*message))
		return workload_fail(worker, "the task at its limit");
	return 0;
}

static int reclaim_run(struct workload_context *context, struct workload_worker *worker,
		       uint64_t nr_operations)
{
	struct reclaim *reclaim = context->data;
	struct message message = { .nr_operations = nr_operations,
				   .random = workload_random(worker) };
	int error = 0;

	if (context->target == WORKLOAD_KERNEL) {
		error = kernel_run(reclaim, worker, &message);
	} else {
		uint64_t before = nr_came_back(reclaim->group);

		message.is_wrong = !touch(worker, reclaim, nr_operations);
		message.nr_refaulted = nr_came_back(reclaim->group) - before;
	}
	if (error)
		return error;
	if (message.is_wrong) {
		worker->failed = "a page is not what was written";
		return -EBADE;
	}
	if (!worker->warming_up)
		reclaim->nr_refaulted += message.nr_refaulted;
	worker->nr_units += nr_operations;
	return 0;
}

static int reclaim_report(struct workload_context *context, struct workload_totals *totals)
{
	const struct reclaim *reclaim = context->data;
	double nr = (double)reclaim->nr_refaulted;

	totals->measured[0] = nr > 0 ? nr / totals->elapsed_s : -1;
	return 0;
}

static void reclaim_teardown(struct workload_context *context)
{
	struct reclaim *reclaim = context->data;

	if (!reclaim)
		return;
	if (context->target == WORKLOAD_KERNEL) {
		close(reclaim->ask);
		close(reclaim->answer);
		if (reclaim->task > 0)
			waitpid(reclaim->task, NULL, 0);
		cgroup_files_remove(context->cgroup, GROUP);
		if (reclaim->pages)
			munmap(reclaim->pages, reclaim->nr_pages * reclaim->page_size);
	} else {
		if (reclaim->pages)
			umemcg_unmap(reclaim->pages);
		umemcg_enter(reclaim->parent);
		umemcg_set_swap(NULL, 0);
		if (reclaim->group != reclaim->parent)
			umemcg_destroy(reclaim->group);
	}
	free(reclaim->written);
	free(reclaim);
}

static double refaults_per_second(const struct workload_totals *totals)
{
	return totals->measured[0];
}

const struct workload workload_reclaim = {
	.name = "reclaim",
	.description = "write at random in memory of N times a limit: pages reclaimed and refaulted",
	.title = {
		[WORKLOAD_LIB] = "reclaim, 16 MiB of regions (lib)",
		[WORKLOAD_KERNEL] = "reclaim, 16 MiB of memory (kernel)",
	},
	.workers = WORKLOAD_ALONE,
	.metrics = {
		{ "refaults", "pages/sec", WORKLOAD_HIGHER, refaults_per_second },
		{ "time per write", "us", WORKLOAD_LOWER, workload_us_per_unit },
	},
	.parameter = "times the limit",
	.values = { 2, 4 },
	.nr_values = 2,
	.nr_values_quick = 1,
	.max_operations = 200000,
	.makes_groups = true,
	.needs_swap = true,
	.setup = reclaim_setup,
	.run = reclaim_run,
	.report = reclaim_report,
	.teardown = reclaim_teardown,
};
