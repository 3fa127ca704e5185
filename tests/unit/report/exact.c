/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of prices, byte for byte, with made numbers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "report/explain.h"

#define NR_LAYOUTS 3

/* Three layouts, the one that is asked for in the middle. */
static void add(struct bench_result *result, const char *kernel, const char *config,
		const char *metric, double median, double spread)
{
	struct bench_series *series;

	assert_int_equal(result_add_series(result,
					   &(struct bench_series_name){ .workload = "pft",
									.target = "kernel",
									.meter = "exact",
									.config = config,
									.metric = metric,
									.unit = "instructions",
									.better = BENCH_LOWER },
					   &series),
			 0);
	assert_int_equal(series_set_param_text(series, "cgroup", "v2"), 0);
	if (kernel)
		assert_int_equal(series_set_param_text(series, "kernel", kernel), 0);
	for (unsigned int i = 0; i < NR_LAYOUTS; i++)
		assert_int_equal(series_add_sample(series,
						   &(struct bench_sample){
							   .block = i,
							   .value = median + (i - 1.0) * spread,
							   .user_s = BENCH_NOT_MEASURED,
							   .system_s = BENCH_NOT_MEASURED,
							   .elapsed_s = BENCH_NOT_MEASURED }),
				 0);
}

static void add_profile(struct bench_result *result, const char *kernel, const char *config,
			uint64_t nr_charge, uint64_t nr_fault)
{
	struct bench_profile *profile;

	assert_int_equal(result_add_profile(result, "pft", "kernel", config,
					    nr_charge + nr_fault + 100, &profile),
			 0);
	assert_int_equal(profile_set_meter(profile, "exact"), 0);
	assert_int_equal(profile_set_operations(profile, 10), 0);
	assert_int_equal(profile_set_param_text(profile, "cgroup", "v2"), 0);
	if (kernel)
		assert_int_equal(profile_set_param_text(profile, "kernel", kernel), 0);
	if (nr_charge)
		assert_int_equal(
			profile_add_symbol(profile, "mm/memcontrol.c", "charge_memcg", nr_charge),
			0);
	assert_int_equal(profile_add_symbol(profile, "mm/memory.c", "handle_mm_fault", nr_fault),
			 0);
}

/* The plain report, up to where profiles begin if @prices; for free(). */
static char *report_of(struct bench_result *result, bool prices)
{
	const struct run run = { "here", result };
	struct comparison *comparison = made_comparison(&run, 1);
	char *text = rendered(&render_exact, comparison, true, 80), *end;

	comparison_destroy(comparison);
	result_destroy(result);
	end = strstr(text, "Counts are instructions");
	assert_non_null(end);
	if (prices)
		*end = '\0';
	return text;
}

static void assert_prices(struct bench_result *result, const char *expected)
{
	char *text = report_of(result, true);

	assert_string_equal(text, expected);
	free(text);
}

static void a_row_has_median_range_difference_mode_and_put_off(void **state)
{
	struct bench_result *result = made_result("6.1.0");

	(void)state;
	add(result, NULL, "disabled", "instructions/fault", 2884.5, 0.25);
	add(result, NULL, "disabled", "instructions/fault, mode", 2382, 0);
	add(result, NULL, "disabled", "instructions/fault, minimum", 2380, 0);
	add(result, NULL, "disabled", "put off/fault", 0.5, 0);
	add(result, NULL, "Set", "instructions/fault", 3433.5, 1);
	add(result, NULL, "Set", "instructions/fault, mode", 2864, 0);
	add(result, NULL, "Set", "put off/fault", 12.3, 0);
	assert_prices(result,
		      "pft: instructions per fault, kernel 6.1.0, cgroup v2, 3 layouts\n"
		      "===============================================================\n"
		      "            median           range     added   percent     mode  put off\n"
		      "disabled    2884.5   2884.2-2884.8                base     2382      0.5\n"
		      "Set         3433.5   3432.5-3434.5    +549.0   +19.0 %     +482     12.3\n"
		      "\n");
}

static void columns_that_nothing_has_are_left_out(void **state)
{
	struct bench_result *result = made_result("6.1.0");

	(void)state;
	add(result, NULL, "Unset", "instructions/fork", 136800, 0);
	add(result, NULL, "child", "instructions/fork", 167300.4, 100);
	assert_prices(result, "pft: instructions per fork, kernel 6.1.0, cgroup v2, 3 layouts\n"
			      "==============================================================\n"
			      "         median           range     added   percent\n"
			      "Unset    136800          136800                base\n"
			      "child    167300   167200-167400    +30500   +22.3 %\n"
			      "\n");
}

static void what_was_not_measured_is_said(void **state)
{
	struct bench_result *result = made_result("6.1.0");

	(void)state;
	add(result, NULL, "disabled", "instructions/pair", 10, 0);
	add(result, NULL, "Set", "instructions/pair", 12.5, 0);
	add(result, NULL, "Set", "instructions/page", 50.25, 0);
	assert_prices(result, "pft: instructions per pair, kernel 6.1.0, cgroup v2, 3 layouts\n"
			      "==============================================================\n"
			      "            median           range     added   percent\n"
			      "disabled     10.00           10.00                base\n"
			      "Set          12.50           12.50     +2.50   +25.0 %\n"
			      "\n"
			      "pft: instructions per page, kernel 6.1.0, cgroup v2, 3 layouts\n"
			      "==============================================================\n"
			      "            median           range     added   percent\n"
			      "disabled not measured\n"
			      "Set          50.25           50.25                base\n"
			      "\n");
}

/* In the order in which they were measured, not in that of their names. */
static void a_kernel_is_held_against_the_first(void **state)
{
	struct bench_result *result = made_result("6.1.0");

	(void)state;
	add(result, "old", "disabled", "instructions/fault", 2000, 0);
	add(result, "old", "Set", "instructions/fault", 2400, 0);
	add(result, "new", "disabled", "instructions/fault", 2000, 0);
	add(result, "new", "Set", "instructions/fault", 2300, 0);
	assert_prices(result, "pft: instructions per fault, kernel old, cgroup v2, 3 layouts\n"
			      "=============================================================\n"
			      "            median           range     added   percent\n"
			      "disabled    2000.0          2000.0                base\n"
			      "Set         2400.0          2400.0    +400.0   +20.0 %\n"
			      "\n"
			      "pft: instructions per fault, kernel new, cgroup v2, 3 layouts\n"
			      "=============================================================\n"
			      "            median           range     added   percent\n"
			      "disabled    2000.0          2000.0                base\n"
			      "Set         2300.0          2300.0    +300.0   +15.0 %\n"
			      "\n"
			      "new against old, instructions per fault\n"
			      "                  old          new     added   percent\n"
			      "disabled       2000.0       2000.0      +0.0    +0.0 %\n"
			      "Set            2400.0       2300.0    -100.0    -4.2 %\n"
			      "\n");
}

static void the_accounting_files_are_whole_and_the_rest_is_a_difference(void **state)
{
	struct bench_result *result = made_result("6.1.0");
	char *text;

	(void)state;
	add(result, NULL, "disabled", "instructions/fault", 20, 0);
	add(result, NULL, "Set", "instructions/fault", 30, 0);
	add_profile(result, NULL, "disabled", 0, 200);
	add_profile(result, NULL, "Set", 90, 210);
	text = report_of(result, false);
	assert_non_null(
		strstr(text, "profile of pft (kernel), Set, cgroup v2: percent of all 400"));
	assert_non_null(strstr(text, " 22.5000       90\n"));
	/* Only what differs is shown of a file that does other work. */
	assert_null(strstr(text, "52.5000"));
	assert_non_null(strstr(text, "  handle_mm_fault"));
	assert_non_null(strstr(text, "+90"));
	assert_null(strstr(text, "in kernel:"));
	free(text);
}

static void add_lib(struct bench_result *result, const char *metric, double value)
{
	struct bench_series *series;

	assert_int_equal(result_add_series(result,
					   &(struct bench_series_name){ .workload = "charge",
									.target = "lib",
									.meter = "exact",
									.config = "Set",
									.metric = metric,
									.unit = "instructions",
									.better = BENCH_LOWER },
					   &series),
			 0);
	assert_int_equal(series_add_sample(
				 series, &(struct bench_sample){ .value = value,
								 .user_s = BENCH_NOT_MEASURED,
								 .system_s = BENCH_NOT_MEASURED,
								 .elapsed_s = BENCH_NOT_MEASURED }),
			 0);
}

static void add_lib_profile(struct bench_result *result, const char *config, uint64_t nr_charge)
{
	struct bench_profile *profile;

	assert_int_equal(
		result_add_profile(result, "charge", "lib", config, nr_charge + 200, &profile), 0);
	assert_int_equal(profile_set_meter(profile, "exact"), 0);
	assert_int_equal(profile_set_operations(profile, 10), 0);
	assert_int_equal(profile_add_symbol(profile, "src/api.c", "umemcg_try_charge", nr_charge),
			 0);
	assert_int_equal(profile_add_symbol(profile, "bench/workloads/charge.c", "charge_run", 60),
			 0);
	assert_int_equal(profile_add_symbol(profile, "[user]", "memcpy", 30), 0);
	assert_int_equal(profile_add_symbol(profile, "[user]", "memset", 10), 0);
}

static void of_the_library_all_files_are_shown_and_the_rest_is_one(void **state)
{
	struct bench_result *result = made_result("6.1.0");
	char *text;

	(void)state;
	add_lib(result, "in the kernel/pair", 3);
	add_lib(result, "instructions/pair", 30);
	add_lib_profile(result, "Set", 300);
	text = report_of(result, false);
	assert_non_null(strstr(text, "in kernel:"));
	assert_non_null(strstr(text, "\nsrc/api.c "));
	assert_non_null(strstr(text, " 60.0000      300\n  umemcg_try_charge "));
	assert_non_null(strstr(text, "\nuser space outside the library "));
	assert_non_null(strstr(text, " 20.0000      100\n  bench/workloads/charge.c "));
	assert_non_null(strstr(text, "\n  [user] "));
	assert_null(strstr(text, "memcpy"));
	free(text);
}

/* As its price is; what else ran is in the totals, and differs. */
static void of_the_library_user_space_alone_is_explained(void **state)
{
	struct bench_result *result = made_result("6.1.0");
	struct report_error error;
	char *text = NULL;
	size_t nr_bytes;
	FILE *out = open_memstream(&text, &nr_bytes);

	(void)state;
	add_lib_profile(result, "disabled", 200);
	add_lib_profile(result, "Set", 300);
	result->profiles[1]->total += 50;
	assert_int_equal(profile_explain_print(out, result->profiles[0], result->profiles[1], 0,
					       "pair", &error),
			 0);
	fclose(out);
	assert_non_null(strstr(text, "\n+10.0 in each pair, mean of 10; user space alone\n"));
	assert_non_null(strstr(text, "     30.0     40.0    +10.0\n\nby symbol"));
	assert_null(strstr(text, "outside these files"));
	free(text);
	result_destroy(result);
}

static void a_long_heading_is_wrapped(void **state)
{
	static const char name[] = "a-kernel-with-a-name-of-sixty-bytes-that-fills-most-of-a-line";
	struct bench_result *result = made_result("6.1.0");
	char *text;

	(void)state;
	add(result, "old", "Set", "instructions/fault", 20, 0);
	add(result, name, "Set", "instructions/fault", 30, 0);
	add_profile(result, "old", "Set", 90, 210);
	add_profile(result, name, "Set", 80, 210);
	text = report_of(result, false);
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		const char *found = strstr(line, name);

		if (found && found < strchr(line, '\n'))
			assert_in_range(strcspn(line, "\n"), 1, 80);
	}
	free(text);
}

static void kernels_without_a_difference_say_so(void **state)
{
	struct bench_result *result = made_result("6.1.0");
	char *text;

	(void)state;
	add(result, "old", "Set", "instructions/fault", 30, 0);
	add(result, "new", "Set", "instructions/fault", 30, 0);
	add_profile(result, "old", "Set", 90, 210);
	add_profile(result, "new", "Set", 90, 210);
	text = report_of(result, false);
	assert_non_null(strstr(text, "kernel old: no\nsymbol differs\n"));
	free(text);
}

static void times_are_refused(void **state)
{
	static const double samples[] = { 1, 1 };
	struct bench_result *result = made_result("6.1.0");
	const struct run run = { "here", result };
	struct report_error error;
	struct comparison *comparison;
	FILE *out = fopen("/dev/null", "we");

	(void)state;
	made_times(result, "Set", samples, 2);
	comparison = made_comparison(&run, 1);
	assert_int_equal(render_exact.render(comparison, &(struct render_options){ .plain = true },
					     out, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "exact"));
	fclose(out);
	comparison_destroy(comparison);
	result_destroy(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_has_median_range_difference_mode_and_put_off),
		cmocka_unit_test(columns_that_nothing_has_are_left_out),
		cmocka_unit_test(what_was_not_measured_is_said),
		cmocka_unit_test(a_kernel_is_held_against_the_first),
		cmocka_unit_test(the_accounting_files_are_whole_and_the_rest_is_a_difference),
		cmocka_unit_test(of_the_library_all_files_are_shown_and_the_rest_is_one),
		cmocka_unit_test(of_the_library_user_space_alone_is_explained),
		cmocka_unit_test(a_long_heading_is_wrapped),
		cmocka_unit_test(kernels_without_a_difference_say_so),
		cmocka_unit_test(times_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
