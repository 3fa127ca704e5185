/* SPDX-License-Identifier: MIT */
/* What a run will measure: suites of jobs, and what it cannot measure. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <umemcg.h>

#include "plan.h"
#include "schedule.h"
#include "targets/kernel/swap.h"

const char *target_name(enum workload_target target)
{
	return target == WORKLOAD_LIB ? "lib" : "kernel";
}

const char *suite_name(const struct suite *suite, char *buffer, size_t size)
{
	int length =
		snprintf(buffer, size, "%s %s", target_name(suite->target), suite->workload->name);

	if (suite->workload->parameter && (size_t)length < size)
		length += snprintf(buffer + length, size - (size_t)length, " %s=%llu",
				   suite->workload->parameter, (unsigned long long)suite->value);
	if (suite->nr_workers > 1 && (size_t)length < size)
		snprintf(buffer + length, size - (size_t)length, ", %u workers", suite->nr_workers);
	return buffer;
}

int plan_skip_job(struct plan *plan, const struct suite *suite, const struct job *job,
		  const char *why)
{
	char name[96], what[sizeof(name) + CONFIGURATION_NAME + 1];

	snprintf(what, sizeof(what), "%s %s", suite_name(suite, name, sizeof(name)),
		 job->configuration->name);
	return skipped_add(&plan->skipped, what, why);
}

int job_add_sample(struct job *job, unsigned int round, const struct protocol_block *block)
{
	struct sample *samples;

	samples = reallocarray(job->samples, job->nr_samples + 1, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	job->samples = samples;
	samples[job->nr_samples++] = (struct sample){ .round = round, .block = *block };
	return 0;
}

const char *plan_why_not(const struct configuration *configuration, enum workload_target target,
			 const struct cgroup *cgroup)
{
	const char *why_not = configuration_why_not(configuration, target, METER_TIME);

	if (why_not || configuration->control)
		return why_not;
	if (target == WORKLOAD_LIB && !configuration->not_compiled &&
	    umemcg_state() == UMEMCG_NOT_COMPILED)
		return "this umemcg was built -Dmemcg=disabled";
	if (target == WORKLOAD_LIB)
		return NULL;
	if (configuration->depth == 0 && !cgroup->can_use_root)
		return cgroup->why_not_root;
	if (configuration->depth == 0 && configuration->limit == LIMIT_NONE)
		return NULL;
	return cgroup->can_make ? NULL : cgroup->why_not;
}

/* The configurations that can be measured become jobs; the others are skipped, once a target. */
static int suite_add_jobs(struct plan *plan, struct suite *suite,
			  const struct bench_options *options, const struct cgroup *cgroup)
{
	struct configuration usable[OPTIONS_NR_CONFIGURATIONS];
	size_t sources[OPTIONS_NR_CONFIGURATIONS], nr_usable = 0, base;
	int error = 0;

	for (size_t i = 0; i < options->nr_configurations && !error; i++) {
		const struct configuration *configuration = &options->configurations[i];
		const char *why = plan_why_not(configuration, suite->target, cgroup);
		char what[64];

		snprintf(what, sizeof(what), "%s %s", target_name(suite->target),
			 configuration->name);
		if (why)
			error = skipped_add(&plan->skipped, what, why);
		if (why || configuration->control)
			continue;
		usable[nr_usable] = *configuration;
		sources[nr_usable++] = i;
	}
	if (error || !nr_usable)
		return error;
	suite->jobs = calloc(nr_usable + 1, sizeof(*suite->jobs));
	if (!suite->jobs)
		return -ENOMEM;
	base = configuration_base(usable, nr_usable);
	for (size_t i = 0; i < nr_usable; i++) {
		suite->jobs[i].configuration = &options->configurations[sources[i]];
		suite->jobs[i].state = suite->jobs[i].configuration;
	}
	suite->nr_jobs = nr_usable;
	for (size_t i = 0; i < options->nr_configurations; i++) {
		if (!options->configurations[i].control)
			continue;
		suite->jobs[nr_usable].configuration = &options->configurations[i];
		suite->jobs[nr_usable].state = suite->jobs[base].configuration;
		suite->nr_jobs++;
	}
	return 0;
}

static int add_suite(struct plan *plan, const struct bench_options *options,
		     const struct cgroup *cgroup, const struct suite *template)
{
	struct suite *suites = reallocarray(plan->suites, plan->nr_suites + 1, sizeof(*suites));
	struct suite *suite;
	int error;

	if (!suites)
		return -ENOMEM;
	plan->suites = suites;
	suite = &suites[plan->nr_suites];
	*suite = *template;
	error = suite_add_jobs(plan, suite, options, cgroup);
	if (error || !suite->nr_jobs)
		return error;
	plan->nr_suites++;
	plan->nr_jobs += suite->nr_jobs;
	return 0;
}

/* mmtests' rule where its tables are printed, otherwise one worker; or what was asked for. */
static size_t choose_workers(const struct bench_options *options, const struct workload *workload,
			     unsigned int nr_cpus, unsigned int *ret_workers)
{
	if (workload->workers == WORKLOAD_ALONE || (!options->nr_workers && !workload->mmtests)) {
		ret_workers[0] = 1;
		return 1;
	}
	if (!options->nr_workers)
		return schedule_workers(nr_cpus, ret_workers, OPTIONS_NR_WORKERS);
	memcpy(ret_workers, options->workers, sizeof(options->workers));
	return options->nr_workers;
}

static int add_workload(struct plan *plan, const struct bench_options *options,
			const struct cgroup *cgroup, unsigned int nr_cpus, struct suite *suite)
{
	const struct workload *workload = suite->workload;
	bool full = options->preset == PRESET_FULL;
	unsigned int workers[OPTIONS_NR_WORKERS], nr_values;
	size_t nr_workers = choose_workers(options, workload, nr_cpus, workers);
	int error = 0;

	nr_values = full ? workload->nr_values : workload->nr_values_quick;
	for (unsigned int v = 0; v < (workload->parameter ? nr_values : 1); v++) {
		for (size_t w = 0; w < nr_workers && !error; w++) {
			suite->value = workload->values[v];
			suite->nr_workers = workers[w];
			error = add_suite(plan, options, cgroup, suite);
		}
	}
	return error;
}

/* Groups cannot be made in the kernel without the permission, whatever the configuration. */
const char *plan_workload_why_not(const struct workload *workload, enum workload_target target,
				  const struct cgroup *cgroup)
{
	if (workload->why_not[target])
		return workload->why_not[target];
	if (target == WORKLOAD_KERNEL && workload->needs_swap && !swap_is_there())
		return "the kernel has no swap here (/proc/swaps), so it can reclaim none of it";
	if (target == WORKLOAD_KERNEL && workload->makes_groups && !cgroup->can_make)
		return cgroup->why_not;
	return NULL;
}

static void make_command(struct plan *plan, const struct bench_options *options)
{
	const char *slash = strrchr(options->command[0], '/');

	snprintf(plan->command_name, sizeof(plan->command_name), "%s",
		 slash ? slash + 1 : options->command[0]);
	snprintf(plan->command_title, sizeof(plan->command_title), "%s (kernel)",
		 plan->command_name);
	plan->command = (struct workload){
		.name = plan->command_name,
		.title = { [WORKLOAD_KERNEL] = plan->command_title },
		.why_not = { [WORKLOAD_LIB] =
				     "libumemcg does not count what a program allocates that does "
				     "not call it" },
		.workers = WORKLOAD_ALONE,
		.metrics = { { "elapsed time", "s", WORKLOAD_LOWER, NULL } },
	};
}

int plan_create(const struct bench_options *options, const struct cgroup *cgroup,
		unsigned int nr_cpus, struct plan **ret_plan)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	size_t nr_workloads = options->command ? 1 : options->nr_workloads;
	int error = 0;

	if (!plan)
		return -ENOMEM;
	if (options->command)
		make_command(plan, options);
	for (size_t w = 0; w < nr_workloads; w++) {
		for (unsigned int target = 0; target < WORKLOAD_NR_TARGETS && !error; target++) {
			struct suite suite = { .target = target };
			char what[96];

			if (!options->targets[target])
				continue;
			suite.workload = options->command ? &plan->command : options->workloads[w];
			snprintf(what, sizeof(what), "%s %s", target_name(target),
				 suite.workload->name);
			if (plan_workload_why_not(suite.workload, target, cgroup))
				error = skipped_add(
					&plan->skipped, what,
					plan_workload_why_not(suite.workload, target, cgroup));
			else
				error = add_workload(plan, options, cgroup, nr_cpus, &suite);
		}
	}
	if (error) {
		plan_destroy(plan);
		return error;
	}
	*ret_plan = plan;
	return 0;
}

void plan_destroy(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t s = 0; s < plan->nr_suites; s++) {
		for (size_t j = 0; j < plan->suites[s].nr_jobs; j++)
			free(plan->suites[s].jobs[j].samples);
		free(plan->suites[s].jobs);
	}
	free(plan->suites);
	skipped_fini(&plan->skipped);
	free(plan);
}
