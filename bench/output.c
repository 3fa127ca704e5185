/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a plan that was run to its result, and to tables on a screen. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "output.h"
#include "output_render.h"
#include "report/comparison.h"
#include "report/renderer.h"

/* Others that take more than this part of the machine disturb what is measured. */
#define OTHERS_BUSY 0.05

/* Which of a plan's workloads go into a result: those of one layout, or all. */
enum layout {
	LAYOUT_PERF,
	LAYOUT_MMTESTS,
	LAYOUT_ALL,
};

static bool in_layout(const struct suite *suite, enum layout layout)
{
	return layout == LAYOUT_ALL || suite->workload->mmtests == (layout == LAYOUT_MMTESTS);
}

static int add_samples(struct bench_series *series, const struct job *job, unsigned int metric)
{
	int error = 0;

	for (size_t i = 0; i < job->nr_samples && !error; i++) {
		const struct protocol_block *block = &job->samples[i].block;

		if (!block->has_metric[metric])
			continue;
		error = series_add_sample(series, &(struct bench_sample){
							  .block = job->samples[i].round,
							  .value = block->metrics[metric],
							  .user_s = block->user_s,
							  .system_s = block->system_s,
							  .elapsed_s = block->elapsed_s,
							  .operations = block->nr_operations,
						  });
	}
	return error;
}

static bool has_metric(const struct job *job, unsigned int metric)
{
	for (size_t i = 0; i < job->nr_samples; i++) {
		if (job->samples[i].block.has_metric[metric])
			return true;
	}
	return false;
}

/* One worker goes without saying, unless their number is what the table is about. */
static bool names_workers(const struct bench_options *options, const struct suite *suite)
{
	return suite->workload->mmtests || suite->nr_workers > 1 ||
	       (options->nr_workers && suite->workload->workers != WORKLOAD_ALONE);
}

static int add_series(struct bench_result *result, const struct bench_options *options,
		      const struct suite *suite, const struct job *job, unsigned int index)
{
	const struct workload *workload = suite->workload;
	const struct workload_metric *metric = &workload->metrics[index];
	struct bench_series *series;
	int error;

	error = result_add_series(
		result,
		&(struct bench_series_name){
			.workload = workload->name,
			.target = target_name(suite->target),
			.meter = "time",
			.config = job->configuration->name,
			.metric = metric->name,
			.unit = metric->unit,
			.better = metric->better == WORKLOAD_LOWER ? BENCH_LOWER : BENCH_HIGHER,
			.title = workload->title[suite->target],
		},
		&series);
	if (!error && names_workers(options, suite))
		error = series_set_param_integer(series, "workers", suite->nr_workers);
	if (!error && workload->parameter)
		error = series_set_param_integer(series, workload->parameter,
						 (int64_t)suite->value);
	return error ? error : add_samples(series, job, index);
}

static int add_suite(struct bench_result *result, const struct bench_options *options,
		     const struct suite *suite)
{
	int error = 0;

	for (size_t j = 0; j < suite->nr_jobs; j++) {
		for (unsigned int m = 0; m < WORKLOAD_NR_METRICS && !error; m++) {
			if (suite->workload->metrics[m].name && has_metric(&suite->jobs[j], m))
				error = add_series(result, options, suite, &suite->jobs[j], m);
		}
	}
	return error;
}

/* Blocks that failed beside others that did not: the numbers hold, but it is said. */
static int add_failures(struct bench_result *result, const struct suite *suite)
{
	char name[96], note[512];
	int error = 0;

	for (size_t j = 0; j < suite->nr_jobs && !error; j++) {
		const struct job *job = &suite->jobs[j];

		if (!job->nr_failures || !job->nr_samples)
			continue;
		snprintf(note, sizeof(note), "%s %s: %u of its blocks failed: %s",
			 suite_name(suite, name, sizeof(name)), job->configuration->name,
			 job->nr_failures, job->why);
		error = result_add_note(result, note);
	}
	return error;
}

static int add_notes(struct bench_result *result, const struct output *output)
{
	char note[256];
	int error;

	snprintf(note, sizeof(note),
		 "%u whole rounds of interleaved blocks, each meant to take %.0f ms%s",
		 output->outcome->nr_rounds, output->outcome->block_s * 1e3,
		 output->outcome->interrupted ? "; interrupted" : "");
	error = result_add_note(result, note);
	if (!error && output->others > OTHERS_BUSY) {
		snprintf(note, sizeof(note), "other programs used %.0f %% of the machine meanwhile",
			 output->others * 100);
		error = result_add_note(result, note);
		result_set_busy(result);
	}
	if (!error && output->notes)
		error = result_add_note(result, output->notes);
	return error;
}

static int build(const struct output *output, enum layout layout, bool head, bool foot,
		 struct bench_result **ret_result)
{
	const struct plan *plan = output->plan;
	struct bench_environment environment = output->machine->environment;
	struct bench_result *result;
	int error = result_create(&result);

	if (error)
		return error;
	environment.seed = output->options->seed;
	error = result_set_environment(result, &environment);
	if (!error && head)
		error = add_notes(result, output);
	for (size_t s = 0; s < plan->nr_suites && !error; s++) {
		if (in_layout(&plan->suites[s], layout))
			error = add_suite(result, output->options, &plan->suites[s]);
		if (!error && in_layout(&plan->suites[s], layout))
			error = add_failures(result, &plan->suites[s]);
	}
	for (size_t i = 0; foot && i < plan->skipped.nr_items && !error; i++)
		error = result_add_skipped(result, plan->skipped.items[i].what,
					   plan->skipped.items[i].why);
	if (error) {
		result_destroy(result);
		return error;
	}
	*ret_result = result;
	return 0;
}

int output_result(const struct output *output, struct bench_result **ret_result)
{
	return build(output, LAYOUT_ALL, true, true, ret_result);
}

/* A terminal's width; elsewhere as wide as this project's own lines. */
static size_t columns_of(FILE *out)
{
	struct winsize size;
	int fd = fileno(out);

	if (fd >= 0 && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return 100;
}

int output_render(const struct bench_result *result, const char *format, FILE *out,
		  struct report_error *error)
{
	const struct comparison_options options = { .effect_percent =
							    VERDICT_DEFAULT_EFFECT_PERCENT };
	const struct render_options render = { .nr_columns = columns_of(out) };
	const struct run run = { .label = "this run", .result = result };
	struct comparison *comparison;
	int ret = comparison_create(&run, 1, &options, &comparison, error);

	if (ret)
		return ret;
	ret = renderer_find(format)->render(comparison, &render, out, error);
	comparison_destroy(comparison);
	return ret;
}

static bool has_layout(const struct plan *plan, enum layout layout)
{
	for (size_t s = 0; s < plan->nr_suites; s++) {
		if (in_layout(&plan->suites[s], layout))
			return true;
	}
	return false;
}

/* Notes stand once, above the first table, and what was skipped below the last one. */
int output_tables(const struct output *output, FILE *out, struct report_error *error)
{
	static const char *const formats[] = {
		[LAYOUT_PERF] = "perf", [LAYOUT_MMTESTS] = "mmtests"
	};
	bool mmtests, first = true;
	int ret = 0;

	if (output->exact)
		return output_render(output->exact, "exact", out, error);
	mmtests = has_layout(output->plan, LAYOUT_MMTESTS);
	for (unsigned int layout = LAYOUT_PERF; layout < LAYOUT_ALL && !ret; layout++) {
		bool last = layout == LAYOUT_MMTESTS || !mmtests;
		struct bench_result *result;

		if (!has_layout(output->plan, layout) && !(last && layout == LAYOUT_PERF))
			continue;
		ret = build(output, layout, first, last, &result);
		first = false;
		if (ret)
			return ret;
		ret = output_render(result, formats[layout], out, error);
		result_destroy(result);
		if (!last)
			fputc('\n', out);
	}
	return ret;
}
