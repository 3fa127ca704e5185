/* SPDX-License-Identifier: MIT */
/* Carrying a plan out: calibration, then rounds of interleaved blocks until time is up. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "meters/time/clock.h"
#include "progress.h"
#include "run.h"
#include "schedule.h"
#include "targets/kernel/place.h"
#include "targets/lib/tree.h"

/* Enough rounds for an interval, if the time allows it. */
#define NR_ROUNDS_WANTED 24
/* Starting and ending a worker, beside what it measures. */
#define BLOCK_START_S 0.008
/* Shorter blocks measure their own start; longer ones lose the interleaving. */
#define BLOCK_MIN_S 0.02
#define BLOCK_MAX_S 0.5
/* No block of any workload takes that long: it hangs. */
#define BLOCK_TIMEOUT_S 180
/* One that fails is tried again, in case the machine was at fault. */
#define NR_FAILURES_MAX 3

#define NR_ARGUMENTS 40

struct run {
	const struct run_setting *setting;
	struct plan *plan;
	struct places places;
	struct run_outcome *outcome;
	double start_s;
	double deadline_s; /* 0 for none */
};

/* The worker's command line: pairs of an option and its value. */
struct arguments {
	char *argv[NR_ARGUMENTS];
	char values[NR_ARGUMENTS][24];
	unsigned int nr;
};

static void argue(struct arguments *arguments, const char *option, const char *value)
{
	arguments->argv[arguments->nr++] = (char *)option;
	arguments->argv[arguments->nr++] = (char *)value;
	arguments->argv[arguments->nr] = NULL;
}

static void argue_number(struct arguments *arguments, const char *option, uint64_t value)
{
	char *text = arguments->values[arguments->nr];

	snprintf(text, sizeof(arguments->values[0]), "%" PRIu64, value);
	argue(arguments, option, text);
}

/* What to run: a block of the job, or how many operations take @calibrate_s if that is not 0. */
static void make_arguments(const struct run *run, const struct suite *suite, const struct job *job,
			   const struct place *place, unsigned int round, double calibrate_s,
			   struct arguments *arguments)
{
	const struct configuration *state = job->state;
	uint64_t nr_bytes_max = job->nr_bytes_max;

	if (state->limit == LIMIT_FAR)
		nr_bytes_max = PLACE_FAR_BYTES;
	arguments->nr = 0;
	arguments->argv[arguments->nr++] = (char *)"umemcg-bench-worker";
	argue(arguments, "--workload", suite->workload->name);
	argue(arguments, "--target", target_name(suite->target));
	argue_number(arguments, "--workers", suite->nr_workers);
	argue_number(arguments, "--value", suite->value);
	argue_number(arguments, "--seed", run->setting->options->seed + round);
	argue(arguments, "--cpus", run->setting->cpus);
	argue_number(arguments, "--depth", state->depth);
	argue_number(arguments, "--max", nr_bytes_max);
	argue(arguments, "--report-fd", "3");
	if (place->directory[0])
		argue(arguments, "--cgroup", place->directory);
	if (calibrate_s > 0) {
		char *text = arguments->values[arguments->nr];

		snprintf(text, sizeof(arguments->values[0]), "%.6f", calibrate_s);
		argue(arguments, "--calibrate", text);
		return;
	}
	argue_number(arguments, "--operations", suite->nr_operations);
	argue_number(arguments, "--warm-up", suite->nr_operations / 10 + 1);
}

/* Whether the library counts anything at all. */
static bool is_accounted(const struct configuration *state)
{
	return !state->not_compiled &&
	       !(state->switches && !strcmp(state->switches, "cgroup_disable=memory"));
}

static int run_worker(const struct suite *suite, const struct configuration *state,
		      struct block_request *request, struct protocol_block *ret_block)
{
	char directory[LIB_TREE_PATH];
	int error;

	if (suite->target != WORKLOAD_LIB || !suite->workload->shares_tree || !is_accounted(state))
		return block_run_worker(request, ret_block);
	error = lib_tree_make(directory);
	if (error) {
		snprintf(ret_block->error, sizeof(ret_block->error), "making a tree: %s",
			 strerror(-error));
		return error;
	}
	request->tree_directory = directory;
	error = block_run_worker(request, ret_block);
	lib_tree_remove(directory);
	return error;
}

/* Runs one block of a job where its configuration wants it. */
static int job_run(struct run *run, const struct suite *suite, const struct job *job,
		   unsigned int round, double calibrate_s, struct protocol_block *ret_block)
{
	const struct run_setting *setting = run->setting;
	const struct configuration *state = job->state;
	size_t index = (size_t)(state - setting->options->configurations);
	bool kernel = suite->target == WORKLOAD_KERNEL;
	struct place place = { 0 };
	struct arguments arguments;
	struct block_request request = { 0 };
	uint64_t nr_bytes_peak;
	int error = 0;

	memset(ret_block, 0, sizeof(*ret_block));
	if (kernel)
		error = place_take(&run->places, index, state, state->limit == LIMIT_NEAR,
				   suite->workload->makes_groups, job->nr_bytes_max, &place);
	if (error) {
		snprintf(ret_block->error, sizeof(ret_block->error), "making a cgroup: %s",
			 strerror(-error));
		return error;
	}
	request.procs = place.procs[0] ? place.procs : NULL;
	if (setting->options->command) {
		request.program = setting->options->command[0];
		request.argv = setting->options->command;
		error = block_run_command(&request, ret_block);
	} else {
		make_arguments(run, suite, job, &place, round, calibrate_s, &arguments);
		request.program = setting->worker;
		if (!kernel && state->not_compiled)
			request.program = setting->worker_not_compiled;
		request.argv = arguments.argv;
		request.command_line = kernel ? NULL : state->command_line;
		request.timeout_s = BLOCK_TIMEOUT_S;
		error = run_worker(suite, state, &request, ret_block);
	}
	nr_bytes_peak = place_leave(&run->places, &place);
	if (nr_bytes_peak)
		ret_block->nr_bytes_peak = nr_bytes_peak;
	return error;
}

/* A job that never gives a number, or keeps failing, is left out from now on. */
static void job_failed(struct job *job, const struct protocol_block *block, int error)
{
	snprintf(job->why, sizeof(job->why), "%s",
		 block->error[0] ? block->error : strerror(-error));
	job->nr_failures++;
	job->dropped = job->nr_failures >= (job->nr_samples ? NR_FAILURES_MAX : 2);
}

static void show_progress(const struct run *run, const struct suite *suite, const struct job *job,
			  double done)
{
	double elapsed_s = clock_now_s() - run->start_s;
	double left_s = done > 0 ? elapsed_s / done - elapsed_s : 0;
	char name[96], what[sizeof(name) + CONFIGURATION_NAME + 1];

	if (run->deadline_s)
		left_s = run->deadline_s - clock_now_s();
	snprintf(what, sizeof(what), "%s %s", suite_name(suite, name, sizeof(name)),
		 job->configuration->name);
	progress_show(done, left_s, what);
}

/* The job that the number of operations is taken from: one in which accounting is at work. */
static struct job *suite_pace_maker(struct suite *suite)
{
	struct job *pace_maker = NULL;

	for (size_t i = 0; i < suite->nr_jobs; i++) {
		struct job *job = &suite->jobs[i];

		if (!job->dropped && !job->configuration->control &&
		    job->state->limit != LIMIT_NEAR)
			pace_maker = job;
	}
	return pace_maker ? pace_maker : &suite->jobs[0];
}

/* All jobs of a suite do what one of them does in the time of a block. */
static int suite_calibrate(struct run *run, struct suite *suite)
{
	struct protocol_block block;
	int error = -ENOENT;

	if (run->setting->options->command) {
		suite->nr_operations = 1;
		return 0;
	}
	for (size_t i = 0; i < suite->nr_jobs && error && error != -EINTR; i++) {
		struct job *job = suite_pace_maker(suite);

		show_progress(run, suite, job, 0);
		error = job_run(run, suite, job, 0, run->outcome->block_s, &block);
		if (error) {
			job_failed(job, &block, error);
			job->dropped = true;
		}
	}
	suite->nr_operations = error ? 0 : block.nr_calibrated;
	return error;
}

/* The limit of a job near its limit is 2 % above what one block of it takes without a limit. */
static int job_find_limit(struct run *run, const struct suite *suite, struct job *job)
{
	struct protocol_block block;
	int error;

	if (job->state->limit != LIMIT_NEAR || job->dropped)
		return 0;
	error = job_run(run, suite, job, 0, 0, &block);
	if (!error && !block.nr_bytes_peak) {
		snprintf(block.error, sizeof(block.error), "%s",
			 suite->target == WORKLOAD_LIB ? "it charges nothing to be near to"
						       : "the kernel does not tell a group's peak");
		error = -ENODATA;
	}
	if (error) {
		job_failed(job, &block, error);
		job->dropped = true;
		return error;
	}
	job->nr_bytes_max = block.nr_bytes_peak + block.nr_bytes_peak / 50;
	return 0;
}

static int calibrate(struct run *run)
{
	for (size_t s = 0; s < run->plan->nr_suites; s++) {
		struct suite *suite = &run->plan->suites[s];

		if (suite_calibrate(run, suite) == -EINTR)
			return -EINTR;
		for (size_t j = 0; j < suite->nr_jobs && suite->nr_operations; j++) {
			if (job_find_limit(run, suite, &suite->jobs[j]) == -EINTR)
				return -EINTR;
		}
	}
	return 0;
}

static bool time_is_up(const struct run *run, double next_s)
{
	return run->deadline_s && clock_now_s() + next_s > run->deadline_s;
}

static double part_done(const struct run *run, double nr_rounds)
{
	unsigned int nr_runs = run->setting->options->nr_runs;
	double by_runs = nr_runs ? nr_rounds / nr_runs : 0, by_time = 0;

	if (run->deadline_s)
		by_time = (clock_now_s() - run->start_s) / (run->deadline_s - run->start_s);
	return by_runs > by_time ? by_runs : by_time;
}

/* One block of every job that is still in. Returns 0, -EINTR for a signal or time that is up. */
static int run_round(struct run *run, unsigned int round, const size_t *order,
		     struct suite *const *suites, struct job *const *jobs)
{
	for (size_t i = 0; i < run->plan->nr_jobs; i++) {
		struct suite *suite = suites[order[i]];
		struct job *job = jobs[order[i]];
		struct protocol_block block;
		int error;

		if (job->dropped || !suite->nr_operations)
			continue;
		if (round > 0 && time_is_up(run, run->outcome->block_s))
			return -EINTR;
		show_progress(run, suite, job,
			      part_done(run, round + (double)i / (double)run->plan->nr_jobs));
		error = job_run(run, suite, job, round, 0, &block);
		if (error == -EINTR)
			return error;
		if (error)
			job_failed(job, &block, error);
		else if (job_add_sample(job, round, &block))
			return -ENOMEM;
	}
	return 0;
}

static int run_rounds(struct run *run)
{
	const struct bench_options *options = run->setting->options;
	struct plan *plan = run->plan;
	size_t *sizes = calloc(plan->nr_suites + 1, sizeof(*sizes));
	size_t *order = calloc(plan->nr_jobs + 1, sizeof(*order));
	struct suite **suites = calloc(plan->nr_jobs + 1, sizeof(*suites));
	struct job **jobs = calloc(plan->nr_jobs + 1, sizeof(*jobs));
	size_t nr_jobs = 0;
	int error = sizes && order && suites && jobs ? 0 : -ENOMEM;

	for (size_t s = 0; s < plan->nr_suites && !error; s++) {
		sizes[s] = plan->suites[s].nr_jobs;
		for (size_t j = 0; j < sizes[s]; j++) {
			suites[nr_jobs] = &plan->suites[s];
			jobs[nr_jobs++] = &plan->suites[s].jobs[j];
		}
	}
	for (unsigned int round = 0; !error && (!options->nr_runs || round < options->nr_runs);
	     round++) {
		schedule_round(options->seed, round, sizes, plan->nr_suites, order);
		error = run_round(run, round, order, suites, jobs);
		run->outcome->nr_rounds += !error;
		if (!nr_jobs || (!options->nr_runs && !run->deadline_s))
			break;
	}
	free(sizes);
	free(order);
	free(suites);
	free(jobs);
	return error;
}

/* Why a job gave no number: its own failure, or that no job of its suite could be calibrated. */
static const char *why_nothing(const struct suite *suite, const struct job *job)
{
	if (job->why[0])
		return job->why;
	for (size_t i = 0; !suite->nr_operations && i < suite->nr_jobs; i++) {
		if (suite->jobs[i].why[0])
			return suite->jobs[i].why;
	}
	return "there was no time for it";
}

/* What gave no number at all is skipped, with the reason, rather than left out. */
static int skip_failed(struct plan *plan)
{
	int error = 0;

	for (size_t s = 0; s < plan->nr_suites; s++) {
		const struct suite *suite = &plan->suites[s];

		for (size_t j = 0; j < suite->nr_jobs && !error; j++) {
			if (!suite->jobs[j].nr_samples)
				error = plan_skip_job(plan, suite, &suite->jobs[j],
						      why_nothing(suite, &suite->jobs[j]));
		}
	}
	return error;
}

static double choose_block_s(const struct bench_options *options, const struct plan *plan)
{
	double block_s = BLOCK_MAX_S / 5;

	if (options->time_s && plan->nr_jobs)
		block_s =
			options->time_s / (double)plan->nr_jobs / NR_ROUNDS_WANTED - BLOCK_START_S;
	/* Warming up takes a tenth more. */
	block_s /= 1.1;
	return block_s < BLOCK_MIN_S ? BLOCK_MIN_S : block_s > BLOCK_MAX_S ? BLOCK_MAX_S : block_s;
}

int run_plan(const struct run_setting *setting, struct plan *plan, struct run_outcome *ret_outcome)
{
	const struct bench_options *options = setting->options;
	struct run_outcome outcome = { 0 };
	struct run run = { .setting = setting, .plan = plan, .outcome = &outcome };
	int error = places_init(&run.places, setting->cgroup, options->nr_configurations);

	if (error)
		return error;
	outcome.block_s = choose_block_s(options, plan);
	run.start_s = clock_now_s();
	run.deadline_s = options->time_s ? run.start_s + options->time_s : 0;
	error = calibrate(&run);
	if (!error)
		error = run_rounds(&run);
	progress_clear();
	places_fini(&run.places);
	if (error && error != -EINTR)
		return error;
	outcome.interrupted = block_interrupted;
	*ret_outcome = outcome;
	return skip_failed(plan);
}
