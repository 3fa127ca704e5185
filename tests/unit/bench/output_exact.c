/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "cmocka_test.h"
#include "output_exact.h"
#include "report/params.h"

static struct exact_kernels kernels;
static struct machine machine;
static struct bench_options options;

static void set_up(const char *const *names, const bool *has_memcg, size_t nr_kernels)
{
	static const char *const configurations[] = { "base-NotCompiled", "Set" };

	memset(&kernels, 0, sizeof(kernels));
	memset(&options, 0, sizeof(options));
	for (size_t i = 0; i < nr_kernels; i++) {
		strcpy(kernels.kernels[i].name, names[i]);
		strcpy(kernels.kernels[i].release, names[i]);
		kernels.kernels[i].has_memcg = has_memcg[i];
	}
	kernels.nr_kernels = nr_kernels;
	options.meter = METER_EXACT;
	options.targets[WORKLOAD_KERNEL] = true;
	options.workloads[options.nr_workloads++] = workload_find("fork");
	options.exact.nr_layouts = 2;
	options.exact.cgroup_v1 = options.exact.cgroup_v2 = true;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(
			configuration_parse(configurations[i],
					    &options.configurations[options.nr_configurations++]),
			0);
}

/* Every boot counts its own number, more by one in the second layout. */
static struct bench_result *result_of(void)
{
	struct exact_output output = { .kernels = &kernels, .machine = &machine };
	struct bench_result *result;
	struct exact_plan *plan;

	assert_int_equal(exact_plan_create(&options, kernels.kernels, kernels.nr_kernels, &plan),
			 0);
	for (size_t b = 0; b < plan->nr_boots; b++) {
		plan->boots[b].state = BOOT_DONE;
		for (unsigned int layout = 0; layout < 2; layout++) {
			struct exact_block *block = &plan->boots[b].blocks[layout];

			block->is_measured = true;
			block->nr_operations = 8;
			block->has[EXACT_MEAN] = true;
			block->figures[EXACT_MEAN] = 100.0 * ((double)b + 1) + layout;
		}
	}
	output.plan = plan;
	assert_int_equal(output_exact_result(&output, &result), 0);
	exact_plan_destroy(plan);
	return result;
}

static const struct bench_series *find(const struct bench_result *result, const char *config,
				       const char *cgroup, const char *kernel)
{
	for (size_t i = 0; i < result->nr_series; i++) {
		const struct bench_series *series = result->series[i];
		const struct bench_param *param = params_find(series, "kernel");

		if (!strcmp(series->config, config) &&
		    !strcmp(params_find(series, "cgroup")->text, cgroup) &&
		    (kernel ? param && !strcmp(param->text, kernel) : !param))
			return series;
	}
	fail_msg("no series of %s, cgroup %s, kernel %s", config, cgroup, kernel ? kernel : "-");
	return NULL;
}

static void a_sample_is_a_layout(void **state)
{
	static const char *const names[] = { "6.1.0" };
	static const bool has_memcg[] = { true };
	struct bench_result *result;
	const struct bench_series *series;

	(void)state;
	set_up(names, has_memcg, 1);
	result = result_of();
	/* One kernel goes without saying; which cgroups is always said. */
	series = find(result, "Set", "v2", NULL);
	assert_string_equal(series->metric, "instructions/fork");
	assert_string_equal(series->unit, "instructions");
	assert_string_equal(series->meter, "exact");
	assert_int_equal(series->nr_samples, 2);
	assert_int_equal(series->samples[1].block, 1);
	assert_true(series->samples[1].value - series->samples[0].value == 1);
	assert_int_equal(series->operations, 16);
	assert_int_equal(result->nr_skipped, 1);
	assert_int_equal(result->nr_profiles, 2);
	assert_string_equal(result->environment.kernel, "6.1.0");
	result_destroy(result);
}

/* A kernel without controller is the base of every other, with either version of cgroups. */
static void the_base_stands_beside_each_kernel(void **state)
{
	static const char *const names[] = { "old", "without", "new" };
	static const bool has_memcg[] = { true, false, true };
	struct bench_result *result;
	double base;

	(void)state;
	set_up(names, has_memcg, 3);
	result = result_of();
	base = find(result, "base-NotCompiled", "v2", "old")->samples[0].value;
	assert_true(find(result, "base-NotCompiled", "v1", "old")->samples[0].value == base);
	assert_true(find(result, "base-NotCompiled", "v1", "new")->samples[0].value == base);
	assert_true(find(result, "Set", "v1", "new")->samples[0].value !=
		    find(result, "Set", "v2", "new")->samples[0].value);
	assert_int_equal(result->nr_series, 8);
	/* In the order in which they were named. */
	assert_string_equal(params_find(result->series[0], "kernel")->text, "old");
	assert_string_equal(result->environment.kernel, "old, new; base-NotCompiled: without");
	result_destroy(result);
}

static void a_lone_kernel_without_controller_has_its_base(void **state)
{
	static const char *const names[] = { "without" };
	static const bool has_memcg[] = { false };
	struct bench_result *result;

	(void)state;
	set_up(names, has_memcg, 1);
	result = result_of();
	find(result, "base-NotCompiled", "v2", NULL);
	assert_int_equal(result->nr_skipped, 1);
	assert_string_equal(result->skipped[0].what, "kernel Set");
	assert_string_equal(result->environment.config_memcg, "n");
	result_destroy(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_is_a_layout),
		cmocka_unit_test(the_base_stands_beside_each_kernel),
		cmocka_unit_test(a_lone_kernel_without_controller_has_its_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
