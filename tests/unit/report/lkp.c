/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of kernel robots' mails, byte for byte, with made numbers. */
#include <stdlib.h>
#include <string.h>

#include "made.h"

#define PM "\xc2\xb1"

/* Four values, none negative, around a mean, whose standard deviation is @percent of it. */
static void spread(double *samples, double mean, double percent)
{
	/* Of -1, -1, -1, 3 it is 2. */
	double step = mean * percent / 200;

	for (size_t i = 0; i < 4; i++)
		samples[i] = i < 3 ? mean - step : mean + 3 * step;
}

static void add(struct bench_result *result, const char *config, const char *metric,
		const char *unit, double mean, double percent)
{
	double samples[4];

	spread(samples, mean, percent);
	made_series(result, "fork", config, metric, unit, samples, 4);
}

static void assert_text(char *text, const char *expected)
{
	assert_string_equal(text, expected);
	free(text);
}

static char *rendered_result(struct bench_result *result, size_t nr_columns)
{
	const struct run run = { "here", result };
	struct comparison *comparison = made_comparison(&run, 1);
	char *text = rendered(&render_lkp, comparison, true, nr_columns);

	comparison_destroy(comparison);
	result_destroy(result);
	return text;
}

static void two_columns_as_a_robot_reports_them(void **state)
{
	struct bench_result *result = made_result("6.1.0");

	(void)state;
	add(result, "base-NotCompiled", "bytes", "bytes", 1742139, 89);
	add(result, "child", "bytes", "bytes", 146373, 56);
	add(result, "base-NotCompiled", "time per fork", "us", 234.5, 3.2);
	add(result, "child", "time per fork", "us", 251.6, 1.4);
	add(result, "base-NotCompiled", "big", "bytes", 654300000, 0);
	add(result, "child", "big", "bytes", 833000000, 119);
	assert_text(rendered_result(result, 80),
		    "========================================================================"
		    "=================\n"
		    "cgroup/compiler/kernel/meter/target/tbox_group/testcase:\n"
		    "  v2/gcc-12.2.0/6.1.0/time/lib/A-processor/fork\n"
		    "\n"
		    "config: \n"
		    "  base-NotCompiled\n"
		    "  child\n"
		    "\n"
		    "base-NotCompiled                       child \n"
		    "---------------- --------------------------- \n"
		    "         %stddev     %change         %stddev\n"
		    "             \\          |                \\  \n"
		    "   1742139 " PM " 89%     -91.6%     146373 " PM " 56%  fork.bytes\n"
		    "    234.50 " PM "  3%      +7.3%     251.60        fork.time_per_fork.us\n"
		    " 6.543e+08           +27.3%   8.33e+08 " PM "119%  fork.big.bytes\n"
		    "\n");
}

static void three_columns_are_each_against_the_base(void **state)
{
	struct bench_result *result = made_result("6.1.0");

	(void)state;
	add(result, "Unset", "elapsed time", "s", 2.13, 0);
	add(result, "child", "elapsed time", "s", 1.77, 5);
	add(result, "a-name-that-is-longer-than-the-column", "elapsed time", "s", 3.94, 0);
	assert_text(rendered_result(result, 80),
		    "========================================================================"
		    "=================\n"
		    "cgroup/compiler/kernel/meter/target/tbox_group/testcase:\n"
		    "  v2/gcc-12.2.0/6.1.0/time/lib/A-processor/fork\n"
		    "\n"
		    "config: \n"
		    "  Unset\n"
		    "  child\n"
		    "  a-name-that-is-longer-than-the-column\n"
		    "\n"
		    "           Unset                       child a-name-that-is-longer-than- \n"
		    "---------------- --------------------------- --------------------------- \n"
		    "         %stddev     %change         %stddev     %change         %stddev\n"
		    "             \\          |                \\          |                \\  \n"
		    "      2.13           -16.9%       1.77 " PM
		    "  5%     +85.0%       3.94        fork.elapsed_time\n"
		    "\n");
}

static void what_does_not_fit_beside_each_other_stands_below(void **state)
{
	struct bench_result *result = made_result("6.1.0");
	char *text, *heads;

	(void)state;
	add(result, "Unset", "elapsed time", "s", 2, 0);
	add(result, "child", "elapsed time", "s", 3, 0);
	add(result, "Set", "elapsed time", "s", 4, 0);
	add(result, "depth-2", "elapsed time", "s", 200002, 0);
	text = rendered_result(result, 80);
	heads = rendered_lines(text, "           Unset ");
	assert_string_equal(heads, "           Unset                       child"
				   "                         Set \n"
				   "           Unset                     depth-2 \n");
	assert_non_null(strstr(text, "\n      2.00        +1.0e+07%     200002        fork."));
	free(heads);
	free(text);
}

static void what_was_not_measured_is_said(void **state)
{
	struct bench_result *result = made_result("6.1.0");
	char *text;

	(void)state;
	add(result, "Unset", "elapsed time", "s", 2, 0);
	add(result, "child", "elapsed time", "s", 2, 0);
	add(result, "Unset", "bytes", "bytes", 0, 0);
	add(result, "Unset", "other", "bytes", 0, 0);
	add(result, "child", "other", "bytes", 7, 0);
	text = rendered_result(result, 80);
	assert_non_null(
		strstr(text, "\n      0.00                      not measured  fork.bytes\n"));
	assert_non_null(strstr(text, "\n      0.00              n/a       7.00        fork.other"));
	free(text);
}

static void results_are_told_apart_and_compared_with_their_own_base(void **state)
{
	struct bench_result *one = made_result("6.1.0"), *other = made_result("6.2.0");
	const struct run runs[] = { { "old", one }, { "new", other } };
	struct comparison *comparison;
	char *text;

	(void)state;
	add(one, "Unset", "elapsed time", "s", 2, 0);
	add(one, "child", "elapsed time", "s", 3, 0);
	add(other, "Unset", "elapsed time", "s", 4, 0);
	add(other, "child", "elapsed time", "s", 5, 0);
	comparison = made_comparison(runs, 2);
	text = rendered(&render_lkp, comparison, true, 80);
	assert_non_null(strstr(text, "\n       old:Unset                   old:child \n"));
	assert_non_null(strstr(text, "\n      2.00           +50.0%       3.00        fork.elap"));
	assert_non_null(strstr(text, "\n       new:Unset                   new:child \n"));
	assert_non_null(strstr(text, "\n      4.00           +25.0%       5.00        fork.elap"));
	free(text);
	comparison_destroy(comparison);
	result_destroy(one);
	result_destroy(other);
}

static void seconds_of_a_run_stand_below_the_metrics(void **state)
{
	struct bench_result *result = made_result("6.1.0");
	const char *const configs[] = { "Unset", "Set" };
	char *text;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct bench_series_name name = { .workload = "fork",
							.target = "lib",
							.meter = "time",
							.config = configs[i],
							.metric = "elapsed time",
							.unit = "s" };
		struct bench_series *series;

		assert_int_equal(result_add_series(result, &name, &series), 0);
		for (uint32_t block = 0; block < 2; block++)
			assert_int_equal(series_add_sample(series,
							   &(struct bench_sample){
								   .block = block,
								   .value = 5,
								   .user_s = 0.25 * (double)(i + 1),
								   .system_s = 4,
								   .elapsed_s = 5,
							   }),
					 0);
	}
	text = rendered_result(result, 80);
	assert_non_null(strstr(text, "\n      5.00            +0.0%       5.00        "
				     "fork.time.elapsed_time\n"
				     "      4.00            +0.0%       4.00        "
				     "fork.time.system_time\n"
				     "    250.00          +100.0%     500.00        "
				     "fork.time.user_time.ms\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_columns_as_a_robot_reports_them),
		cmocka_unit_test(three_columns_are_each_against_the_base),
		cmocka_unit_test(what_does_not_fit_beside_each_other_stands_below),
		cmocka_unit_test(what_was_not_measured_is_said),
		cmocka_unit_test(results_are_told_apart_and_compared_with_their_own_base),
		cmocka_unit_test(seconds_of_a_run_stand_below_the_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
