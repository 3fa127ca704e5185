/* SPDX-License-Identifier: MIT */
/* One block of one workload under the clock: its workers, the gate, times, and the check. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "meters/check.h"
#include "meters/time/clock.h"
#include "meters/time/gate.h"
#include "meters/time/measure.h"

/* What one worker leaves behind for whoever started it, in memory that processes share. */
struct slot {
	struct workload_worker worker;
	double start_s;
	double end_s;
	double user_s;
	double system_s;
	uint64_t nr_units;
	uint64_t nr_checked;
	uint64_t nr_faults;
	int error;
};

struct crew {
	const struct workload *workload;
	struct workload_context *context;
	const struct measure_cpus *cpus;
	struct gate gate;
	struct slot slots[] __attribute__((aligned(256)));
};

struct member {
	struct crew *crew;
	unsigned int index;
};

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

/* Times and faults of a worker so far: a process's with its children, or a thread's. */
static void usage_add(struct slot *slot, bool thread, int sign)
{
	struct rusage usage, children = { 0 };

	getrusage(thread ? RUSAGE_THREAD : RUSAGE_SELF, &usage);
	if (!thread)
		getrusage(RUSAGE_CHILDREN, &children);
	slot->user_s += sign * (seconds(usage.ru_utime) + seconds(children.ru_utime));
	slot->system_s += sign * (seconds(usage.ru_stime) + seconds(children.ru_stime));
	slot->nr_faults += (uint64_t)(sign * usage.ru_minflt);
}

static void pin(const struct measure_cpus *cpus, unsigned int index)
{
	cpu_set_t set;

	if (!cpus->nr_cpus)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpus->cpus[index % cpus->nr_cpus], &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* The inside of the gate: nothing is here but the work and two readings of each clock. */
static void worker_measured(struct crew *crew, struct slot *slot, bool thread)
{
	struct workload_worker *worker = &slot->worker;
	uint64_t nr_units = worker->nr_units, nr_checked = worker->nr_checked;

	usage_add(slot, thread, -1);
	slot->start_s = clock_now_s();
	slot->error = crew->workload->run(crew->context, worker, crew->context->nr_operations);
	slot->end_s = clock_now_s();
	usage_add(slot, thread, 1);
	/* A difference of two sums may fall short of nought by a rounding. */
	slot->user_s = slot->user_s > 0 ? slot->user_s : 0;
	slot->system_s = slot->system_s > 0 ? slot->system_s : 0;
	slot->nr_units = worker->nr_units - nr_units;
	slot->nr_checked = worker->nr_checked - nr_checked;
}

static void worker_run(struct crew *crew, unsigned int index, bool thread)
{
	const struct workload *workload = crew->workload;
	struct workload_context *context = crew->context;
	struct slot *slot = &crew->slots[index];

	pin(crew->cpus, index);
	if (context->enter)
		context->enter(context);
	if (workload->worker_setup)
		slot->error = workload->worker_setup(context, &slot->worker);
	if (!slot->error && context->nr_warm_up) {
		slot->worker.warming_up = true;
		slot->error = workload->run(context, &slot->worker, context->nr_warm_up);
		slot->worker.warming_up = false;
	}
	/* Whoever failed comes to the gate too: the others are not to wait for it in vain. */
	if (context->nr_workers > 1)
		gate_wait(&crew->gate);
	if (!slot->error)
		worker_measured(crew, slot, thread);
	if (workload->worker_teardown)
		workload->worker_teardown(context, &slot->worker);
}

static void *thread_main(void *arg)
{
	const struct member *member = arg;

	worker_run(member->crew, member->index, true);
	return NULL;
}

static int crew_run_threads(struct crew *crew)
{
	unsigned int nr_workers = crew->context->nr_workers, nr_started = 0;
	struct member members[nr_workers];
	pthread_t threads[nr_workers];
	int error = 0;

	for (; nr_started < nr_workers && !error; nr_started += !error) {
		members[nr_started] = (struct member){ crew, nr_started };
		error = -pthread_create(&threads[nr_started], NULL, thread_main,
					&members[nr_started]);
	}
	gate_await(&crew->gate, nr_started, NULL);
	gate_open(&crew->gate);
	while (nr_started > 0)
		pthread_join(threads[--nr_started], NULL);
	return error;
}

/* A worker that ends before the gate is open was killed: it will never come there. */
static bool process_lost(void)
{
	siginfo_t info = { 0 };

	return !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid != 0;
}

static int crew_run_processes(struct crew *crew)
{
	unsigned int nr_workers = crew->context->nr_workers, nr_started = 0;
	pid_t pids[nr_workers];
	int error = 0, status;

	for (; nr_started < nr_workers && !error; nr_started += !error) {
		pids[nr_started] = fork();
		if (pids[nr_started] < 0)
			error = -errno;
		if (pids[nr_started] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			worker_run(crew, nr_started, false);
			_exit(0);
		}
	}
	if (!error)
		error = gate_await(&crew->gate, nr_started, process_lost);
	gate_open(&crew->gate);
	while (nr_started > 0) {
		if (error)
			kill(pids[nr_started - 1], SIGKILL);
		if (waitpid(pids[--nr_started], &status, 0) < 0 || status != 0)
			error = error ? error : -ECHILD;
	}
	return error;
}

static int crew_run(struct crew *crew)
{
	if (crew->context->nr_workers == 1) {
		worker_run(crew, 0, false);
		return 0;
	}
	if (crew->workload->workers == WORKLOAD_THREADS)
		return crew_run_threads(crew);
	return crew_run_processes(crew);
}

/* Sums the slots up; false if what was counted is not what the system says. */
static bool crew_total(const struct crew *crew, struct workload_totals *totals, char *error)
{
	const struct workload_context *context = crew->context;
	struct check_counts counts = { .nr_workers = context->nr_workers };
	double start_s = crew->slots[0].start_s, end_s = crew->slots[0].end_s;

	totals->nr_workers = context->nr_workers;
	totals->nr_operations = context->nr_operations * context->nr_workers;
	for (unsigned int i = 0; i < context->nr_workers; i++) {
		const struct slot *slot = &crew->slots[i];

		start_s = slot->start_s < start_s ? slot->start_s : start_s;
		end_s = slot->end_s > end_s ? slot->end_s : end_s;
		totals->user_s += slot->user_s;
		totals->system_s += slot->system_s;
		counts.nr_units += slot->nr_units;
		counts.nr_checked += slot->nr_checked;
		counts.nr_faults += slot->nr_faults;
	}
	totals->nr_units = counts.nr_units;
	totals->elapsed_s = end_s - start_s;
	return check_units(crew->workload, &counts, error, MEASURE_ERROR);
}

/* Says which call failed, in the first worker that has something to say. */
static int crew_failed(const struct crew *crew, int error, char *text)
{
	const char *failed = NULL;

	for (unsigned int i = 0; i < crew->context->nr_workers && !failed; i++) {
		failed = crew->slots[i].worker.failed;
		if (crew->slots[i].error)
			error = crew->slots[i].error;
	}
	if (error == -ECHILD && !failed)
		snprintf(text, MEASURE_ERROR, "a worker was killed");
	else
		snprintf(text, MEASURE_ERROR, "%s: %s", failed ? failed : "a worker",
			 strerror(-error));
	return error;
}

static int crew_measure(struct crew *crew, struct workload_totals *totals, char *text)
{
	const struct workload *workload = crew->workload;
	struct workload_context *context = crew->context;
	struct workload_worker *first = &crew->slots[0].worker;
	int error = 0;

	pin(crew->cpus, 0);
	context->data = NULL;
	if (workload->setup)
		error = workload->setup(context, first);
	if (!error)
		error = crew_run(crew);
	for (unsigned int i = 0; i < context->nr_workers && !error; i++)
		error = crew->slots[i].error;
	if (!error && workload->finish) {
		double start_s = clock_now_s();

		error = workload->finish(context, first, &totals->nr_apart);
		totals->apart_s = clock_now_s() - start_s;
	}
	if (!error && !crew_total(crew, totals, text))
		error = -EBADE;
	else if (error)
		error = crew_failed(crew, error, text);
	if (!error && workload->report)
		error = workload->report(context, totals);
	if (workload->teardown)
		workload->teardown(context);
	return error;
}

int measure_block(const struct workload *workload, struct workload_context *context,
		  const struct measure_cpus *cpus, struct workload_totals *ret_totals, char *error)
{
	size_t nr_bytes = sizeof(struct crew) + context->nr_workers * sizeof(struct slot);
	struct workload_totals totals = { 0 };
	struct crew *crew;
	int result;

	crew = mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (crew == MAP_FAILED) {
		snprintf(error, MEASURE_ERROR, "mmap: %s", strerror(errno));
		return -ENOMEM;
	}
	crew->workload = workload;
	crew->context = context;
	crew->cpus = cpus;
	for (unsigned int i = 0; i < context->nr_workers; i++) {
		crew->slots[i].worker.index = i;
		/* An odd multiplier: no worker's sequence is zero or another one's. */
		crew->slots[i].worker.random = (context->seed * 2 + 1) * 0x9e3779b97f4a7c15ull + i;
	}
	result = crew_measure(crew, &totals, error);
	munmap(crew, nr_bytes);
	if (!result)
		*ret_totals = totals;
	return result;
}

int measure_calibrate(const struct workload *workload, struct workload_context *context,
		      const struct measure_cpus *cpus, double seconds_wanted,
		      uint64_t *ret_nr_operations, char *error)
{
	uint64_t bound = workload->max_operations ? workload->max_operations : UINT64_MAX / 4;
	double nr_operations = 1;

	context->nr_warm_up = 1;
	for (context->nr_operations = 1;; context->nr_operations *= 4) {
		struct workload_totals totals;
		int result;

		if (context->nr_operations > bound)
			context->nr_operations = bound;
		result = measure_block(workload, context, cpus, &totals, error);
		if (result)
			return result;
		nr_operations = (double)context->nr_operations * seconds_wanted / totals.elapsed_s;
		if (totals.elapsed_s >= seconds_wanted / 6 || context->nr_operations == bound)
			break;
	}
	if (nr_operations > (double)bound)
		nr_operations = (double)bound;
	*ret_nr_operations = nr_operations < 1 ? 1 : (uint64_t)nr_operations;
	return 0;
}
