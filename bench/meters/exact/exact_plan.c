/* SPDX-License-Identifier: MIT */
/* What an exact run will measure: boots of guests, and what it cannot measure. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meters/exact/exact_plan.h"
#include "plan.h"

/* Runs of the user's program in a block. */
#define NR_PROGRAM_RUNS 5
/* Of a block's operations, that warm it up. */
#define WARM_UP_PART 10

const char *exact_suite_name(const struct exact_suite *suite, char *buffer, size_t size)
{
	if (suite->workload->parameter)
		snprintf(buffer, size, "%s %s=%llu", suite->workload->name,
			 suite->workload->parameter, (unsigned long long)suite->value);
	else
		snprintf(buffer, size, "%s", suite->workload->name);
	return buffer;
}

const char *exact_boot_name(const struct exact_plan *plan, const struct exact_boot *boot,
			    char *buffer, size_t size)
{
	bool several = boot->target == WORKLOAD_KERNEL && plan->nr_kernels > 1;
	bool is_v1 = boot->cgroup == JOB_CGROUP_V1;

	snprintf(buffer, size, "%s %s%s%s%s", target_name(boot->target), boot->configuration->name,
		 several ? " of " : "", several ? boot->kernel->name : "",
		 is_v1 ? ", cgroup v1" : "");
	return buffer;
}

unsigned int exact_plan_nr_blocks(const struct exact_plan *plan, enum workload_target target)
{
	unsigned int nr_blocks = 0;

	for (size_t s = 0; s < plan->nr_suites; s++) {
		if (plan->suites[s].target == target)
			nr_blocks += plan->options->exact.nr_layouts;
	}
	return nr_blocks;
}

const char *exact_workload_why_not(const struct workload *workload, enum workload_target target)
{
	if (workload->why_not[target])
		return workload->why_not[target];
	return workload->nr_operations_exact
		       ? NULL
		       : "it has no operation of its own that could be counted";
}

static int add_suite(struct exact_plan *plan, const struct exact_suite *suite)
{
	struct exact_suite *suites =
		reallocarray(plan->suites, plan->nr_suites + 1, sizeof(*suites));

	if (!suites)
		return -ENOMEM;
	plan->suites = suites;
	suites[plan->nr_suites++] = *suite;
	return 0;
}

static int add_workload(struct exact_plan *plan, const struct workload *workload,
			enum workload_target target)
{
	unsigned int nr_values = workload->parameter ? workload->nr_values_quick : 1;
	const char *why = exact_workload_why_not(workload, target);
	char what[96];
	int error = 0;

	if (why) {
		snprintf(what, sizeof(what), "%s %s", target_name(target), workload->name);
		return skipped_add(&plan->skipped, what, why);
	}
	for (unsigned int v = 0; v < nr_values && !error; v++)
		error = add_suite(
			plan,
			&(struct exact_suite){
				.workload = workload,
				.target = target,
				.value = workload->values[v],
				.nr_operations = workload->nr_operations_exact,
				.nr_warm_up = workload->nr_operations_exact / WARM_UP_PART + 1,
			});
	return error;
}

static void make_command(struct exact_plan *plan, char *const *command)
{
	const char *slash = strrchr(command[0], '/');

	snprintf(plan->command_name, sizeof(plan->command_name), "%s",
		 slash ? slash + 1 : command[0]);
	snprintf(plan->command_title, sizeof(plan->command_title), "%s (kernel)",
		 plan->command_name);
	plan->command = (struct workload){
		.name = plan->command_name,
		.title = { [WORKLOAD_KERNEL] = plan->command_title },
		.why_not = { [WORKLOAD_LIB] =
				     "libumemcg does not count what a program allocates that does "
				     "not call it" },
		.operation = "run",
		.nr_operations_exact = NR_PROGRAM_RUNS,
	};
}

static int add_suites(struct exact_plan *plan)
{
	const struct bench_options *options = plan->options;
	size_t nr_workloads = options->command ? 1 : options->nr_workloads;
	int error = 0;

	if (options->command)
		make_command(plan, options->command);
	for (unsigned int target = 0; target < WORKLOAD_NR_TARGETS; target++) {
		for (size_t w = 0; options->targets[target] && w < nr_workloads && !error; w++)
			error = add_workload(
				plan, options->command ? &plan->command : options->workloads[w],
				target);
	}
	return error;
}

static int add_boot(struct exact_plan *plan, const struct exact_boot *boot)
{
	size_t nr_blocks = plan->nr_suites * plan->options->exact.nr_layouts;
	struct exact_boot *boots = reallocarray(plan->boots, plan->nr_boots + 1, sizeof(*boots));

	if (!boots)
		return -ENOMEM;
	plan->boots = boots;
	boots[plan->nr_boots] = *boot;
	boots[plan->nr_boots].blocks = calloc(nr_blocks, sizeof(*boot->blocks));
	if (!boots[plan->nr_boots].blocks)
		return -ENOMEM;
	plan->nr_boots++;
	return 0;
}

static bool has_kernel(const struct exact_plan *plan, bool has_memcg)
{
	for (size_t k = 0; k < plan->nr_kernels; k++) {
		if (plan->kernels[k].has_memcg == has_memcg)
			return true;
	}
	return false;
}

/* Why no kernel at hand can have that configuration, or NULL. */
static const char *kernel_why_not(const struct exact_plan *plan,
				  const struct configuration *configuration)
{
	if (configuration->not_compiled && !has_kernel(plan, false))
		return "none of the kernels was built with CONFIG_MEMCG=n: --kernel names one, "
		       "tools/build-kernel builds it";
	if (!configuration->not_compiled && !has_kernel(plan, true))
		return "the kernel has no memory controller (CONFIG_MEMCG=n)";
	return NULL;
}

/* Where the controller is off, no version of cgroups has it: one boot serves for both. */
static int add_kernel_boots(struct exact_plan *plan, const struct configuration *configuration)
{
	const struct exact_options *exact = &plan->options->exact;
	bool is_off =
		configuration->not_compiled || (configuration->switches && !configuration->depth &&
						configuration->limit == LIMIT_NONE);
	struct exact_boot boot = { .target = WORKLOAD_KERNEL, .configuration = configuration };
	int error = 0;

	for (size_t k = 0; k < plan->nr_kernels && !error; k++) {
		boot.kernel = &plan->kernels[k];
		if (boot.kernel->has_memcg == configuration->not_compiled)
			continue;
		boot.cgroup = JOB_CGROUP_NONE;
		if (is_off)
			error = add_boot(plan, &boot);
		boot.cgroup = JOB_CGROUP_V2;
		if (!is_off && exact->cgroup_v2)
			error = add_boot(plan, &boot);
		boot.cgroup = JOB_CGROUP_V1;
		if (!error && !is_off && exact->cgroup_v1)
			error = add_boot(plan, &boot);
	}
	return error;
}

static int add_configuration(struct exact_plan *plan, enum workload_target target,
			     const struct configuration *configuration)
{
	const char *why = configuration_why_not(configuration, target, METER_EXACT);
	bool explains = plan->options->exact.explain && configuration->not_compiled;
	char what[CONFIGURATION_NAME + 16];

	if (!why && target == WORKLOAD_KERNEL)
		why = kernel_why_not(plan, configuration);
	/* What is explained is held against the one or the other base. */
	if (why && explains)
		return 0;
	if (why) {
		snprintf(what, sizeof(what), "%s %s", target_name(target), configuration->name);
		return skipped_add(&plan->skipped, what, why);
	}
	if (target == WORKLOAD_KERNEL)
		return add_kernel_boots(plan, configuration);
	return add_boot(plan, &(struct exact_boot){ .target = target,
						    .configuration = configuration,
						    .kernel = &plan->kernels[0],
						    .cgroup = JOB_CGROUP_NONE });
}

static int add_boots(struct exact_plan *plan)
{
	int error = 0;

	for (unsigned int target = 0; target < WORKLOAD_NR_TARGETS; target++) {
		if (!plan->options->targets[target] || !exact_plan_nr_blocks(plan, target))
			continue;
		for (size_t c = 0; c < plan->options->nr_configurations && !error; c++)
			error = add_configuration(plan, target, &plan->options->configurations[c]);
	}
	return error;
}

int exact_plan_create(const struct bench_options *options, const struct kernel *kernels,
		      size_t nr_kernels, struct exact_plan **ret_plan)
{
	struct exact_plan *plan = calloc(1, sizeof(*plan));
	int error;

	if (!plan)
		return -ENOMEM;
	plan->options = options;
	plan->kernels = kernels;
	plan->nr_kernels = nr_kernels;
	error = add_suites(plan);
	if (!error)
		error = add_boots(plan);
	if (error) {
		exact_plan_destroy(plan);
		return error;
	}
	*ret_plan = plan;
	return 0;
}

void exact_plan_destroy(struct exact_plan *plan)
{
	if (!plan)
		return;
	for (size_t b = 0; b < plan->nr_boots; b++) {
		size_t nr_blocks = plan->nr_suites * plan->options->exact.nr_layouts;

		for (size_t i = 0; i < nr_blocks; i++) {
			exact_profile_fini(&plan->boots[b].blocks[i].profile);
			exact_profile_fini(&plan->boots[b].blocks[i].apart);
		}
		for (size_t m = 0; m < plan->boots[b].nr_marks; m++)
			exact_profile_fini(&plan->boots[b].marks[m].block.profile);
		free(plan->boots[b].blocks);
		free(plan->boots[b].marks);
	}
	free(plan->boots);
	free(plan->suites);
	skipped_fini(&plan->skipped);
	free(plan);
}
