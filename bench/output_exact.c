/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From an exact plan that was run to its result. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output_exact.h"
#include "output_exact_profile.h"
#include "plan.h"
#include "report/params.h"

/* What a table is of: the same suite, kernel and cgroups in all configurations. */
struct subject {
	const struct exact_output *output;
	const struct exact_suite *suite;
	const struct kernel *kernel;  /* whose accounting is measured; lib: any */
	const struct kernel *without; /* that base-NotCompiled is measured with, or NULL */
	enum job_cgroup cgroup;
	bool names_kernel;
};

static const char *const metrics[] = {
	[EXACT_MEAN] = "instructions/%s",
	[EXACT_MODE] = "instructions/%s, mode",
	[EXACT_MINIMUM] = "instructions/%s, minimum",
	[EXACT_PUT_OFF] = "put off/%s",
	[EXACT_INTERRUPTS] = "interrupts/%s",
	[EXACT_IN_KERNEL] = "in the kernel/%s",
	[EXACT_REPETITIONS] = "rep iterations/%s",
	[EXACT_APART] = "instructions/%s",
	[EXACT_APART_PUT_OFF] = "put off/%s",
};

static bool is_apart(enum exact_figure figure)
{
	return figure == EXACT_APART || figure == EXACT_APART_PUT_OFF;
}

static const char *cgroup_name(enum job_cgroup cgroup)
{
	return cgroup == JOB_CGROUP_V1 ? "v1" : "v2";
}

static int set_params(const struct subject *subject, struct bench_param **params, size_t *nr_params)
{
	const struct exact_suite *suite = subject->suite;
	int ret = 0;

	if (suite->workload->parameter)
		ret = params_set_integer(params, nr_params, suite->workload->parameter,
					 (int64_t)suite->value);
	if (!ret && suite->target == WORKLOAD_KERNEL)
		ret = params_set_text(params, nr_params, "cgroup", cgroup_name(subject->cgroup));
	if (!ret && subject->names_kernel)
		ret = params_set_text(params, nr_params, "kernel", subject->kernel->name);
	return ret;
}

/* The boot that measured a configuration for a subject, or NULL. */
static const struct exact_boot *find_boot(const struct subject *subject,
					  const struct configuration *configuration)
{
	const struct exact_plan *plan = subject->output->plan;
	bool is_kernel = subject->suite->target == WORKLOAD_KERNEL;
	const struct kernel *kernel =
		configuration->not_compiled ? subject->without : subject->kernel;

	for (size_t b = 0; b < plan->nr_boots; b++) {
		const struct exact_boot *boot = &plan->boots[b];

		if (boot->target != subject->suite->target || boot->configuration != configuration)
			continue;
		if (is_kernel && (boot->kernel != kernel || (boot->cgroup != JOB_CGROUP_NONE &&
							     boot->cgroup != subject->cgroup)))
			continue;
		return boot;
	}
	return NULL;
}

static const struct exact_block *blocks_of(const struct subject *subject,
					   const struct exact_boot *boot)
{
	const struct exact_plan *plan = subject->output->plan;
	size_t suite = (size_t)(subject->suite - plan->suites);

	return &boot->blocks[suite * plan->options->exact.nr_layouts];
}

/* @operation NULL: the workload's own, of @figure. */
static int add_series(struct bench_result *result, const struct subject *subject,
		      const struct exact_boot *boot, enum exact_figure figure,
		      const char *operation, struct bench_series **ret_series)
{
	const struct workload *workload = subject->suite->workload;
	char metric[128];
	int ret;

	if (!operation)
		operation = is_apart(figure) ? workload->operation_apart : workload->operation;
	snprintf(metric, sizeof(metric), metrics[figure], operation ? operation : "operation");
	ret = result_add_series(
		result,
		&(struct bench_series_name){
			.workload = workload->name,
			.target = target_name(boot->target),
			.meter = "exact",
			.config = boot->configuration->name,
			.metric = metric,
			.unit = figure == EXACT_REPETITIONS ? "iterations" : "instructions",
			.better = BENCH_LOWER,
			.title = workload->title[boot->target],
		},
		ret_series);
	return ret ? ret : set_params(subject, &(*ret_series)->params, &(*ret_series)->nr_params);
}

static int add_sample(struct bench_series *series, const struct exact_block *block,
		      enum exact_figure figure, unsigned int layout)
{
	return series_add_sample(
		series,
		&(struct bench_sample){
			.block = layout,
			.value = block->figures[figure],
			.user_s = BENCH_NOT_MEASURED,
			.system_s = BENCH_NOT_MEASURED,
			.elapsed_s = BENCH_NOT_MEASURED,
			.operations = is_apart(figure) ? block->nr_apart : block->nr_operations,
		});
}

/* One figure in all layouts in which it could be had. */
static int add_figure(struct bench_result *result, const struct subject *subject,
		      const struct exact_boot *boot, enum exact_figure figure)
{
	const struct exact_block *blocks = blocks_of(subject, boot);
	struct bench_series *series = NULL;
	int ret = 0;

	for (unsigned int layout = 0;
	     layout < subject->output->plan->options->exact.nr_layouts && !ret; layout++) {
		if (!blocks[layout].is_measured || !blocks[layout].has[figure])
			continue;
		if (!series)
			ret = add_series(result, subject, boot, figure, NULL, &series);
		if (!ret)
			ret = add_sample(series, &blocks[layout], figure, layout);
	}
	return ret;
}

static int add_profile(struct bench_result *result, const struct subject *subject,
		       const struct exact_boot *boot, const struct exact_block *block,
		       enum bench_part part, struct bench_profile **ret_profile)
{
	int ret = output_exact_profile(result, subject->output, subject->suite, boot, block, part,
				       ret_profile);

	return ret ? ret : set_params(subject, &(*ret_profile)->params, &(*ret_profile)->nr_params);
}

/* Parts that a program marked itself: over all layouts, so one sample each. */
static int add_mark(struct bench_result *result, const struct subject *subject,
		    const struct exact_boot *boot, const struct exact_mark *mark)
{
	struct bench_profile *profile;
	struct bench_series *series;
	char operation[32];
	int ret = 0;

	snprintf(operation, sizeof(operation), "mark %u", mark->id);
	for (enum exact_figure figure = 0; figure < EXACT_NR_FIGURES && !ret; figure++) {
		if (!mark->block.has[figure])
			continue;
		ret = add_series(result, subject, boot, figure, operation, &series);
		if (!ret)
			ret = add_sample(series, &mark->block, figure, 0);
	}
	if (!ret)
		ret = add_profile(result, subject, boot, &mark->block, BENCH_PART_RUN, &profile);
	return ret ? ret : profile_set_param_integer(profile, "mark", mark->id);
}

static int add_boot(struct bench_result *result, const struct subject *subject,
		    const struct exact_boot *boot)
{
	const struct exact_block *block = blocks_of(subject, boot);
	struct bench_profile *profile;
	bool has_marks = subject->suite->workload == &subject->output->plan->command;
	int ret = 0;

	for (enum exact_figure figure = 0; figure < EXACT_NR_FIGURES && !ret; figure++)
		ret = add_figure(result, subject, boot, figure);
	for (size_t m = 0; has_marks && m < boot->nr_marks && !ret; m++)
		ret = add_mark(result, subject, boot, &boot->marks[m]);
	if (!ret && block->is_measured)
		ret = add_profile(result, subject, boot, block, BENCH_PART_RUN, &profile);
	if (!ret && block->is_measured && block->has[EXACT_APART])
		ret = add_profile(result, subject, boot, block, BENCH_PART_APART, &profile);
	return ret;
}

static int add_subject(struct bench_result *result, const struct subject *subject)
{
	const struct bench_options *options = subject->output->plan->options;
	int ret = 0;

	for (size_t c = 0; c < options->nr_configurations && !ret; c++) {
		const struct exact_boot *boot = find_boot(subject, &options->configurations[c]);

		if (boot && boot->state == BOOT_DONE)
			ret = add_boot(result, subject, boot);
	}
	return ret;
}

/* Of kernels with a controller or without, the one of that number, the last if there are less. */
static const struct kernel *nth_kernel(const struct exact_output *output, bool has_memcg, size_t n)
{
	const struct kernel *found = NULL;
	size_t index = 0;

	for (size_t k = 0; k < output->kernels->nr_kernels; k++) {
		const struct kernel *kernel = &output->kernels->kernels[k];

		if (kernel->has_memcg == has_memcg && index++ <= n)
			found = kernel;
	}
	return found;
}

static size_t nr_kernels(const struct exact_output *output, bool has_memcg)
{
	size_t nr = 0;

	for (size_t k = 0; k < output->kernels->nr_kernels; k++)
		nr += output->kernels->kernels[k].has_memcg == has_memcg;
	return nr;
}

/* Every kernel whose controller is measured; where none has one, every kernel by itself. */
static int add_kernel_suite(struct bench_result *result, struct subject *subject)
{
	const struct exact_options *exact = &subject->output->plan->options->exact;
	size_t nr_with = nr_kernels(subject->output, true);
	size_t nr = nr_with ? nr_with : subject->output->kernels->nr_kernels;
	int ret = 0;

	subject->names_kernel = nr > 1;
	for (size_t k = 0; k < nr && !ret; k++) {
		subject->kernel = nth_kernel(subject->output, nr_with > 0, k);
		subject->without = nth_kernel(subject->output, false, k);
		subject->cgroup = JOB_CGROUP_V2;
		if (exact->cgroup_v2)
			ret = add_subject(result, subject);
		subject->cgroup = JOB_CGROUP_V1;
		if (exact->cgroup_v1 && !ret)
			ret = add_subject(result, subject);
	}
	return ret;
}

static int add_suites(struct bench_result *result, const struct exact_output *output)
{
	const struct exact_plan *plan = output->plan;
	int ret = 0;

	for (size_t s = 0; s < plan->nr_suites && !ret; s++) {
		struct subject subject = { .output = output, .suite = &plan->suites[s] };

		if (subject.suite->target == WORKLOAD_KERNEL)
			ret = add_kernel_suite(result, &subject);
		else
			ret = add_subject(result, &subject);
	}
	for (size_t i = 0; i < plan->skipped.nr_items && !ret; i++)
		ret = result_add_skipped(result, plan->skipped.items[i].what,
					 plan->skipped.items[i].why);
	return ret;
}

int output_exact_result(const struct exact_output *output, struct bench_result **ret_result)
{
	struct bench_result *result;
	int ret = result_create(&result);

	if (ret)
		return ret;
	ret = output_exact_environment(result, output);
	if (!ret)
		ret = add_suites(result, output);
	if (ret) {
		result_destroy(result);
		return ret;
	}
	*ret_result = result;
	return 0;
}
