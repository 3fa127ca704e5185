/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cmocka_test.h"
#include "meters/exact/exact_plan.h"

static struct kernel kernels[3] = { { .name = "old", .has_memcg = true },
				    { .name = "new", .has_memcg = true },
				    { .name = "without" } };

static void choose(struct bench_options *options, const char *const *configurations)
{
	memset(options, 0, sizeof(*options));
	options->meter = METER_EXACT;
	options->targets[WORKLOAD_KERNEL] = true;
	options->workloads[options->nr_workloads++] = workload_find("fork");
	options->exact.nr_layouts = 2;
	options->exact.cgroup_v2 = true;
	for (; *configurations; configurations++)
		assert_int_equal(
			configuration_parse(*configurations,
					    &options->configurations[options->nr_configurations++]),
			0);
}

static struct exact_plan *plan_of(const struct bench_options *options, size_t nr_kernels)
{
	struct exact_plan *plan;

	assert_int_equal(exact_plan_create(options, kernels, nr_kernels, &plan), 0);
	return plan;
}

static unsigned int nr_boots(const struct exact_plan *plan, const char *config,
			     enum job_cgroup cgroup)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < plan->nr_boots; i++)
		nr += !strcmp(plan->boots[i].configuration->name, config) &&
		      plan->boots[i].cgroup == cgroup;
	return nr;
}

static void a_boot_is_a_kernel_a_configuration_and_a_version(void **state)
{
	struct bench_options options;
	struct exact_plan *plan;

	(void)state;
	choose(&options, (const char *const[]){ "disabled", "Set", NULL });
	options.exact.cgroup_v1 = true;
	plan = plan_of(&options, 2);
	assert_int_equal(nr_boots(plan, "Set", JOB_CGROUP_V1), 2);
	assert_int_equal(nr_boots(plan, "Set", JOB_CGROUP_V2), 2);
	/* A controller that is off has no version. */
	assert_int_equal(nr_boots(plan, "disabled", JOB_CGROUP_NONE), 2);
	assert_int_equal(plan->nr_boots, 6);
	exact_plan_destroy(plan);
}

static void a_kernel_without_controller_is_the_base_alone(void **state)
{
	struct bench_options options;
	struct exact_plan *plan;

	(void)state;
	choose(&options, (const char *const[]){ "base-NotCompiled", "Unset", NULL });
	plan = plan_of(&options, 3);
	assert_int_equal(plan->nr_boots, 3);
	assert_string_equal(plan->boots[0].kernel->name, "without");
	assert_string_equal(plan->boots[1].kernel->name, "old");
	assert_int_equal(plan->skipped.nr_items, 0);
	exact_plan_destroy(plan);
}

static void what_no_kernel_has_is_skipped_with_the_reason(void **state)
{
	struct bench_options options;
	struct exact_plan *plan;

	(void)state;
	choose(&options,
	       (const char *const[]){ "base-NotCompiled", "Set", "stack-Set", "AA", NULL });
	plan = plan_of(&options, 1);
	assert_int_equal(plan->nr_boots, 1);
	assert_int_equal(plan->skipped.nr_items, 3);
	assert_string_equal(plan->skipped.items[0].what, "kernel base-NotCompiled");
	assert_non_null(strstr(plan->skipped.items[0].why, "tools/build-kernel"));
	exact_plan_destroy(plan);
}

static void the_library_needs_one_kernel_and_one_version(void **state)
{
	struct bench_options options;
	struct exact_plan *plan;

	(void)state;
	choose(&options, (const char *const[]){ "base-NotCompiled", "disabled", "Set", NULL });
	options.targets[WORKLOAD_KERNEL] = false;
	options.targets[WORKLOAD_LIB] = true;
	options.exact.cgroup_v1 = true;
	plan = plan_of(&options, 2);
	assert_int_equal(plan->nr_boots, 3);
	assert_int_equal(nr_boots(plan, "Set", JOB_CGROUP_NONE), 1);
	exact_plan_destroy(plan);
}

static void every_value_is_a_suite_in_every_layout(void **state)
{
	struct bench_options options;
	struct exact_plan *plan;

	(void)state;
	choose(&options, (const char *const[]){ "Set", NULL });
	options.targets[WORKLOAD_LIB] = true;
	options.workloads[options.nr_workloads++] = workload_find("charge");
	plan = plan_of(&options, 1);
	/* charge: of the library alone, at five depths. */
	assert_int_equal(exact_plan_nr_blocks(plan, WORKLOAD_KERNEL), 2);
	assert_int_equal(exact_plan_nr_blocks(plan, WORKLOAD_LIB), 2 * (1 + 5));
	exact_plan_destroy(plan);
}

static void a_boot_is_named_after_what_tells_it_from_others(void **state)
{
	struct bench_options options;
	struct exact_plan *plan;
	char name[96];

	(void)state;
	choose(&options, (const char *const[]){ "Set", NULL });
	plan = plan_of(&options, 1);
	assert_string_equal(exact_boot_name(plan, &plan->boots[0], name, sizeof(name)),
			    "kernel Set");
	exact_plan_destroy(plan);
	options.exact.cgroup_v1 = true;
	plan = plan_of(&options, 2);
	assert_string_equal(exact_boot_name(plan, &plan->boots[1], name, sizeof(name)),
			    "kernel Set of old, cgroup v1");
	exact_plan_destroy(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_boot_is_a_kernel_a_configuration_and_a_version),
		cmocka_unit_test(a_kernel_without_controller_is_the_base_alone),
		cmocka_unit_test(what_no_kernel_has_is_skipped_with_the_reason),
		cmocka_unit_test(the_library_needs_one_kernel_and_one_version),
		cmocka_unit_test(every_value_is_a_suite_in_every_layout),
		cmocka_unit_test(a_boot_is_named_after_what_tells_it_from_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
