/* SPDX-License-Identifier: MIT */
/* One block of a guest's job, as a process of its own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "meters/check.h"
#include "meters/exact/guest/block.h"
#include "meters/exact/guest/counting.h"
#include "meters/exact/guest/program.h"
#include "targets/lib/lib.h"

/* Parts begin on such a boundary of the guest's clock: the ticks fall alike in every block. */
#define START_NS 40000000

/*
 * A layout is where things happen to lie. Its number moves the start of what is counted against
 * the ticks of the clock, the heap, and the pages that a child has to copy.
 */
#define LAYOUT_NR_SPINS  150001
#define LAYOUT_NR_BYTES  1040
#define LAYOUT_NR_PAGES  4
#define LAYOUT_PAGE_SIZE 4096

static volatile char layout_pages[LAYOUT_NR_PAGES][LAYOUT_PAGE_SIZE];

static void layout_apply(unsigned int layout)
{
	for (unsigned int i = 0; i < layout % LAYOUT_NR_PAGES; i++)
		layout_pages[i][0] = 1;
	sbrk((intptr_t)layout * LAYOUT_NR_BYTES);
}

/* Sleeps until what came before is over and the clock is at a boundary, then runs idle a while. */
static void layout_start(unsigned int layout)
{
	struct timespec now;

	counting_rest();
	clock_gettime(CLOCK_MONOTONIC, &now);
	now.tv_nsec += START_NS - now.tv_nsec % START_NS;
	now.tv_sec += now.tv_nsec / 1000000000;
	now.tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &now, NULL);
	for (volatile unsigned int i = layout * LAYOUT_NR_SPINS; i > 0; i--)
		;
}

struct block {
	const struct block_request *request;
	struct block_report *report;
	const struct workload *workload;
	struct workload_context context;
	struct workload_worker worker;
	struct check_counts counts; /* of the part that is counted */
};

static void counts_take(struct block *block, int sign)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	block->counts.nr_faults += (uint64_t)(sign * usage.ru_minflt);
	block->counts.nr_units += (uint64_t)sign * block->worker.nr_units;
	block->counts.nr_checked += (uint64_t)sign * block->worker.nr_checked;
}

static int block_warm_up(struct block *block)
{
	int error = 0;

	if (!block->context.nr_warm_up)
		return 0;
	block->worker.warming_up = true;
	error = block->workload->run(&block->context, &block->worker, block->context.nr_warm_up);
	block->worker.warming_up = false;
	return error;
}

/* From setup() to teardown(), in the order that workload.h promises. */
static int block_work(struct block *block)
{
	const struct workload *workload = block->workload;
	struct workload_context *context = &block->context;
	struct workload_worker *worker = &block->worker;
	int error = 0;

	if (workload->setup)
		error = workload->setup(context, worker);
	if (!error && workload->worker_setup)
		error = workload->worker_setup(context, worker);
	if (!error)
		error = block_warm_up(block);
	if (!error) {
		layout_start(block->request->block.layout);
		counts_take(block, -1);
		error = counting_run(workload, context, worker);
		counts_take(block, 1);
	}
	if (workload->worker_teardown)
		workload->worker_teardown(context, worker);
	if (!error && workload->finish)
		error = counting_finish(workload, context, worker, &block->report->nr_apart);
	if (!error) {
		counting_rest();
		counting_quiet();
		block->report->quiet = block->request->counted;
	}
	block->report->nr_bytes_peak = lib_peak(context);
	if (workload->teardown)
		workload->teardown(context);
	return error;
}

static void block_failed(struct block *block, const char *what, int error)
{
	/* Of a child that failed there is no more to say than what it did. */
	if (error == -ECHILD)
		snprintf(block->report->failed, JOB_ERROR, "%s", what);
	else
		snprintf(block->report->failed, JOB_ERROR, "%s: %s", what, strerror(-error));
}

static void block_do(struct block *block)
{
	const struct block_request *request = block->request;
	struct block_report *report = block->report;
	int error;

	block->workload =
		request->nr_arguments ? &program_workload : workload_find(request->block.workload);
	if (!block->workload) {
		snprintf(report->failed, JOB_ERROR, "there is no workload %s",
			 request->block.workload);
		return;
	}
	if (block->workload->why_not[request->target]) {
		snprintf(report->failed, JOB_ERROR, "%s",
			 block->workload->why_not[request->target]);
		return;
	}
	error = request->target == WORKLOAD_LIB
			? lib_enter(&block->context, request->depth, request->nr_bytes_max)
			: 0;
	if (error) {
		block_failed(block, "entering a group", error);
		return;
	}
	if (request->counted)
		error = counting_arm(request->block.index);
	if (error) {
		block_failed(block, "writing the marks", error);
		return;
	}
	error = block_work(block);
	if (error) {
		block_failed(block, block->worker.failed ? block->worker.failed : "the workload",
			     error);
		return;
	}
	block->counts.nr_workers = 1;
	report->nr_units = block->counts.nr_units;
	check_units(block->workload, &block->counts, report->failed, JOB_ERROR);
}

/* Reads the request, and behind it the arguments of the user's program. */
static struct block_request *request_read(char ***ret_arguments)
{
	int fd = open(BLOCK_REQUEST, O_RDONLY | O_CLOEXEC);
	struct block_request *request = NULL;
	struct stat status;
	char *text;

	if (fd >= 0 && !fstat(fd, &status))
		request = malloc((size_t)status.st_size);
	if (!request || read(fd, request, (size_t)status.st_size) != status.st_size)
		return NULL;
	close(fd);
	*ret_arguments = calloc(request->nr_arguments + 1, sizeof(char *));
	if (!*ret_arguments)
		return NULL;
	text = (char *)(request + 1);
	for (uint64_t i = 0; i < request->nr_arguments; i++) {
		(*ret_arguments)[i] = text;
		text += strlen(text) + 1;
	}
	return request;
}

static int report_write(const struct block_report *report)
{
	int fd = open(BLOCK_REPORT, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t length = fd < 0 ? -1 : write(fd, report, sizeof(*report));

	return length == sizeof(*report) ? 0 : 1;
}

int block_main(void)
{
	/* Static: the stack is to be the workload's. */
	static struct block_report report;
	static struct block block = { .report = &report };
	char **arguments;
	struct block_request *request = request_read(&arguments);

	if (!request)
		return 1;
	/* Huge pages would make one fault of five hundred. Timers go off when they are due. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	prctl(PR_SET_TIMERSLACK, 1);
	layout_apply(request->block.layout);
	block.request = request;
	block.context = (struct workload_context){
		.target = request->target,
		.nr_workers = 1,
		.nr_operations = request->block.nr_operations,
		.nr_warm_up = request->block.nr_warm_up,
		.value = request->block.value,
		.counted = true,
		.depth = request->depth,
		.cgroup = request->cgroup[0] ? request->cgroup : NULL,
		.program = BLOCK_SELF,
		.data = request->nr_arguments ? arguments : NULL,
	};
	block.worker.random = 0x9e3779b97f4a7c15ull;
	block_do(&block);
	report.over = true;
	return report_write(&report);
}
