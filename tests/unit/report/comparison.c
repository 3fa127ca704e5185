/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is compared with what, what is refused, and what is said beside it. */
#include "report/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"

static const double ten[] = { 10, 10.01, 9.99, 10.02, 9.98, 10, 10.01, 9.99 };
static const double eleven[] = { 11, 11.02, 10.98, 11.01, 10.99, 11, 11.01, 10.99 };
static const double noisy[] = { 10, 12, 9, 11.5, 8.5, 10.2, 11.9, 9.1 };

/* The series with that parameter, or the samples in both. */
static void set_param(struct bench_series *series, const char *name, int64_t value)
{
	assert_int_equal(series_set_param_integer(series, name, value), 0);
}

static void assert_refused(const struct run *runs, size_t nr_runs, const char *base,
			   const char *complaint)
{
	const struct comparison_options options = { .effect_percent = 1, .base = base };
	struct comparison *comparison = NULL;
	struct report_error error = { "" };

	assert_int_equal(comparison_create(runs, nr_runs, &options, &comparison, &error), -EINVAL);
	assert_null(comparison);
	if (!strstr(error.text, complaint) || !strstr(error.text, "accepted"))
		fail_msg("%s", error.text);
}

static void the_base_is_not_compiled_then_disabled_then_the_first(void **state)
{
	static const struct {
		const char *configs[4];
		const char *base;
	} cases[] = {
		{ { "Set", "disabled", "base-NotCompiled", "AA" }, "base-NotCompiled" },
		{ { "Set", "disabled", "AA", "child" }, "disabled" },
		{ { "Unset", "child", "Set", "AA" }, "Unset" },
		{ { "AA", "child", "Set", "Unset" }, "child" },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct bench_result *result = made_result("6.1");
		const struct run run = { "a", result };
		struct comparison *comparison;
		struct cell *base;

		for (size_t j = 0; j < 4; j++)
			made_times(result, cases[i].configs[j], ten, NR(ten));
		comparison = made_comparison(&run, 1);
		base = cell_of(comparison, 0, cases[i].base);
		assert_string_equal(comparison->tables[0].columns[0].config, cases[i].base);
		assert_string_equal(comparison->tables[0].columns[3].config, "AA");
		assert_null(base->base);
		assert_int_equal(base->verdict, VERDICT_NONE);
		assert_ptr_equal(cell_of(comparison, 0, "Set")->base,
				 base == cell_of(comparison, 0, "Set") ? NULL : base);
		assert_ptr_equal(cell_of(comparison, 0, "AA")->base, base);
		comparison_destroy(comparison);
		result_destroy(result);
	}
}

static void a_base_can_be_asked_for_and_the_control_keeps_its_own(void **state)
{
	struct bench_result *result = made_result("6.1");
	const struct comparison_options options = { .effect_percent = 1, .base = "Set" };
	const struct run run = { "a", result };
	struct comparison *comparison;
	struct report_error error;

	(void)state;
	made_times(result, "Unset", ten, NR(ten));
	made_times(result, "Set", eleven, NR(eleven));
	made_times(result, "AA", ten, NR(ten));
	assert_int_equal(comparison_create(&run, 1, &options, &comparison, &error), 0);
	assert_ptr_equal(cell_of(comparison, 0, "Unset")->base, cell_of(comparison, 0, "Set"));
	assert_int_equal(cell_of(comparison, 0, "Unset")->verdict, VERDICT_SAVES);
	comparison_destroy(comparison);
	assert_refused(&run, 1, "child", "base child: not measured; accepted are Unset Set");
	assert_refused(&run, 1, "AA", "base AA: not measured");
	result_destroy(result);
}

static void the_noise_is_the_control_s_furthest_end(void **state)
{
	struct bench_result *result = made_result("6.1");
	const struct run run = { "a", result };
	struct comparison *comparison;
	const struct cell *control;

	(void)state;
	made_times(result, "base-NotCompiled", ten, NR(ten));
	made_times(result, "Set", eleven, NR(eleven));
	made_times(result, "AA", noisy, NR(noisy));
	comparison = made_comparison(&run, 1);
	control = cell_of(comparison, 0, "AA");
	assert_true(control->noise_percent ==
		    fmax(control->bootstrap.high_percent, -control->bootstrap.low_percent));
	assert_true(control->noise_percent > 5);
	assert_true(cell_of(comparison, 0, "Set")->noise_percent == control->noise_percent);
	/* And it is no comparison of its own. */
	assert_int_equal(comparison->nr_comparisons, 1);
	assert_true(comparison->false_verdicts == 0.05);
	comparison_destroy(comparison);
	result_destroy(result);
}

static void without_a_control_there_is_no_noise_floor(void **state)
{
	struct bench_result *result = made_result("6.1");
	const struct run run = { "a", result };
	struct comparison *comparison;

	(void)state;
	made_times(result, "Unset", ten, NR(ten));
	made_times(result, "Set", eleven, NR(eleven));
	comparison = made_comparison(&run, 1);
	assert_true(isnan(cell_of(comparison, 0, "Set")->noise_percent));
	assert_int_equal(cell_of(comparison, 0, "Set")->verdict, VERDICT_COSTS);
	comparison_destroy(comparison);
	result_destroy(result);
}

static void holm_makes_a_lone_borderline_verdict_unclear(void **state)
{
	const double slower[] = { 10.8, 12.4, 8.8, 12.2, 8.9, 11, 12, 9.6 };
	struct comparison_options options = { .effect_percent = 1 };
	struct bench_result *result = made_result("6.1");
	const struct run run = { "a", result };
	struct comparison *comparison;
	struct report_error error;
	char config[16];

	(void)state;
	made_times(result, "Unset", noisy, NR(noisy));
	made_times(result, "Set", slower, NR(slower));
	for (int i = 0; i < 200; i++) {
		snprintf(config, sizeof(config), "depth-%d", i);
		made_times(result, config, noisy, NR(noisy));
	}
	assert_int_equal(comparison_create(&run, 1, &options, &comparison, &error), 0);
	assert_int_equal(cell_of(comparison, 0, "Set")->verdict, VERDICT_COSTS);
	assert_int_equal(comparison->nr_comparisons, 201);
	assert_true(fabs(comparison->false_verdicts - 10.05) < 1e-9);
	comparison_destroy(comparison);
	options.adjust_holm = true;
	assert_int_equal(comparison_create(&run, 1, &options, &comparison, &error), 0);
	assert_int_equal(cell_of(comparison, 0, "Set")->verdict, VERDICT_UNCLEAR);
	assert_true(cell_of(comparison, 0, "Set")->runs_needed > 0);
	assert_int_equal(cell_of(comparison, 0, "depth-7")->verdict, VERDICT_EQUAL);
	assert_true(comparison->false_verdicts == 0.05);
	comparison_destroy(comparison);
	result_destroy(result);
}

static void rows_are_in_the_order_of_metrics_then_of_numbers(void **state)
{
	static const int workers[] = { 8, 1, 10 };
	static const char *const expected[] = { "faults/cpu-1", "faults/cpu-8", "faults/cpu-10",
						"faults/sec-1", "faults/sec-8", "faults/sec-10" };
	struct bench_result *result = made_result("6.1");
	const struct run run = { "a", result };
	struct comparison *comparison;

	(void)state;
	for (size_t i = 0; i < NR(workers); i++) {
		set_param(made_series(result, "pft", "Set", "faults/cpu", "faults/sec", ten, 8),
			  "workers", workers[i]);
		set_param(made_series(result, "pft", "Set", "faults/sec", "faults/sec", ten, 8),
			  "workers", workers[i]);
	}
	comparison = made_comparison(&run, 1);
	assert_int_equal(comparison->tables[0].nr_rows, NR(expected));
	for (size_t i = 0; i < NR(expected); i++)
		assert_string_equal(comparison->tables[0].rows[i].name, expected[i]);
	comparison_destroy(comparison);
	result_destroy(result);
}

static void a_parameter_that_varies_is_in_the_row_s_name(void **state)
{
	struct bench_result *result = made_result("6.1");
	const struct run run = { "a", result };
	struct bench_series *series;
	struct comparison *comparison;

	(void)state;
	for (int depth = 1; depth <= 16; depth *= 4) {
		series = made_series(result, "charge", "Set", "time", "ns", ten, 8);
		set_param(series, "depth", depth);
		set_param(series, "bytes", 64);
	}
	comparison = made_comparison(&run, 1);
	assert_string_equal(comparison->tables[0].rows[0].name, "time depth=1");
	assert_string_equal(comparison->tables[0].rows[2].name, "time depth=16");
	comparison_destroy(comparison);
	result_destroy(result);
}

/* Two results of one machine; the second with other samples. */
struct pair {
	struct bench_result *results[2];
	struct run runs[2];
};

static void pair_init(struct pair *pair)
{
	pair->results[0] = made_result("6.1");
	pair->results[1] = made_result("6.2");
	pair->runs[0] = (struct run){ "one", pair->results[0] };
	pair->runs[1] = (struct run){ "two", pair->results[1] };
}

static void pair_fini(struct pair *pair)
{
	result_destroy(pair->results[0]);
	result_destroy(pair->results[1]);
}

static void become_another_machine(struct bench_result *result)
{
	const struct bench_environment environment = { .cpu = "Another", .cpus = 2, .seed = 1 };

	assert_int_equal(result_set_environment(result, &environment), 0);
}

static void each_machine_is_compared_with_its_own_base(void **state)
{
	struct comparison *comparison;
	struct table *table;
	struct pair pair;

	(void)state;
	pair_init(&pair);
	become_another_machine(pair.results[1]);
	made_times(pair.results[0], "base-NotCompiled", ten, 8);
	made_times(pair.results[0], "Set", eleven, 8);
	made_times(pair.results[1], "Unset", eleven, 8);
	made_times(pair.results[1], "Set", eleven, 8);
	comparison = made_comparison(pair.runs, 2);
	table = &comparison->tables[0];
	assert_int_equal(comparison->nr_tables, 1);
	assert_int_equal(table->nr_columns, 4);
	assert_ptr_equal(table->rows[0].cells[1].base, &table->rows[0].cells[0]);
	assert_int_equal(table->rows[0].cells[1].verdict, VERDICT_COSTS);
	assert_null(table->rows[0].cells[2].base);
	assert_ptr_equal(table->rows[0].cells[3].base, &table->rows[0].cells[2]);
	assert_int_equal(table->rows[0].cells[3].verdict, VERDICT_EQUAL);
	assert_int_equal(comparison->nr_warnings, 1);
	assert_non_null(strstr(comparison->warnings[0], "two: not the machine of one"));
	comparison_destroy(comparison);
	pair_fini(&pair);
}

static void another_boot_of_the_machine_uses_the_base_of_the_first(void **state)
{
	struct comparison *comparison;
	struct table *table;
	struct pair pair;

	(void)state;
	pair_init(&pair);
	made_times(pair.results[0], "base-NotCompiled", ten, 8);
	made_times(pair.results[1], "Unset", eleven, 8);
	comparison = made_comparison(pair.runs, 2);
	table = &comparison->tables[0];
	assert_ptr_equal(table->rows[0].cells[1].base, &table->rows[0].cells[0]);
	assert_int_equal(table->rows[0].cells[1].verdict, VERDICT_COSTS);
	assert_int_equal(comparison->nr_warnings, 0);
	comparison_destroy(comparison);
	pair_fini(&pair);
}

static void across_results_each_configuration_meets_itself(void **state)
{
	const struct comparison_options options = { .effect_percent = 1, .across = true };
	struct comparison *comparison;
	struct report_error error;
	struct table *table;
	struct pair pair;

	(void)state;
	pair_init(&pair);
	for (size_t i = 0; i < 2; i++) {
		made_times(pair.results[i], "Unset", i ? eleven : ten, 8);
		made_times(pair.results[i], "Set", eleven, 8);
	}
	assert_int_equal(comparison_create(pair.runs, 2, &options, &comparison, &error), 0);
	table = &comparison->tables[0];
	assert_ptr_equal(table->rows[0].cells[2].base, &table->rows[0].cells[0]);
	assert_int_equal(table->rows[0].cells[2].verdict, VERDICT_COSTS);
	assert_ptr_equal(table->rows[0].cells[3].base, &table->rows[0].cells[1]);
	assert_int_equal(table->rows[0].cells[3].verdict, VERDICT_EQUAL);
	comparison_destroy(comparison);
	pair_fini(&pair);
}

static void different_parameters_are_refused(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	set_param(made_times(pair.results[0], "Set", ten, 8), "pages", 256);
	set_param(made_times(pair.results[1], "Set", ten, 8), "pages", 512);
	assert_refused(pair.runs, 2, NULL,
		       "one: fork (lib) was measured with pages=256, but in two with pages=512");
	pair_fini(&pair);
	pair_init(&pair);
	set_param(made_times(pair.results[0], "Set", ten, 8), "pages", 256);
	made_times(pair.results[1], "Set", ten, 8);
	assert_refused(pair.runs, 2, NULL, "with pages=none, but in one with pages=256");
	pair_fini(&pair);
}

static void other_workers_are_not_different_parameters(void **state)
{
	struct comparison *comparison;
	struct pair pair;

	(void)state;
	pair_init(&pair);
	for (int workers = 1; workers <= 3; workers += 2)
		set_param(made_times(pair.results[0], "Set", ten, 8), "workers", workers);
	for (int workers = 3; workers <= 5; workers += 2)
		set_param(made_times(pair.results[1], "Set", ten, 8), "workers", workers);
	comparison = made_comparison(pair.runs, 2);
	assert_int_equal(comparison->tables[0].nr_rows, 3);
	assert_null(comparison->tables[0].rows[0].cells[1].series);
	assert_non_null(comparison->tables[0].rows[1].cells[1].series);
	comparison_destroy(comparison);
	pair_fini(&pair);
}

static void different_meters_are_refused(void **state)
{
	const struct bench_series_name exact = { "fork",         "lib", "exact",     "Set",
						 "instructions", "n",   BENCH_LOWER, NULL };
	struct bench_series *series;
	struct comparison *comparison;
	struct pair pair;

	(void)state;
	pair_init(&pair);
	made_times(pair.results[0], "Set", ten, 8);
	assert_int_equal(result_add_series(pair.results[1], &exact, &series), 0);
	assert_refused(pair.runs, 2, NULL,
		       "one: fork (lib) was measured with the time meter, but in two with the "
		       "exact meter");
	/* Both meters in one of them is something to share. */
	assert_int_equal(result_add_series(pair.results[0], &exact, &series), 0);
	comparison = made_comparison(pair.runs, 2);
	assert_int_equal(comparison->nr_tables, 2);
	comparison_destroy(comparison);
	pair_fini(&pair);
}

static void different_units_are_refused(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	made_series(pair.results[0], "fork", "Set", "time", "us", ten, 8);
	made_series(pair.results[1], "fork", "Set", "time", "ns", ten, 8);
	assert_refused(pair.runs, 2, NULL, "two: time of fork (lib) is in ns");
	pair_fini(&pair);
}

static void the_same_series_twice_is_refused(void **state)
{
	struct bench_result *result = made_result("6.1");
	const struct run run = { "a", result };

	(void)state;
	made_times(result, "Set", ten, 8);
	made_times(result, "Set", ten, 8);
	assert_refused(&run, 1, NULL, "a: elapsed time of fork (lib, Set) is there twice");
	result_destroy(result);
}

static void a_table_that_would_eat_memory_is_refused(void **state)
{
	struct bench_result *result = made_result("6.1");
	const struct run run = { "a", result };
	char config[16];

	(void)state;
	/* 600 rows of 600 columns each, but for one value of 600 all empty. */
	for (int i = 0; i < 600; i++) {
		snprintf(config, sizeof(config), "depth-%d", i);
		set_param(made_times(result, config, NULL, 0), "depth", i);
	}
	assert_refused(&run, 1, NULL, "a: too many parameters and configurations of fork (lib)");
	result_destroy(result);
}

static void a_busy_machine_is_flagged(void **state)
{
	struct bench_result *result = made_result("6.1");
	const struct run run = { "a", result };
	struct comparison *comparison;

	(void)state;
	result_set_busy(result);
	comparison = made_comparison(&run, 1);
	assert_int_equal(comparison->nr_warnings, 1);
	assert_non_null(strstr(comparison->warnings[0], "a: the machine was busy"));
	comparison_destroy(comparison);
	result_destroy(result);
}

static void add_timed(struct bench_series *series, uint32_t block, double elapsed_s)
{
	const struct bench_sample sample = { block, 1, elapsed_s / 4, elapsed_s / 2, elapsed_s, 1 };

	assert_int_equal(series_add_sample(series, &sample), 0);
}

static void times_are_of_one_run_over_all_its_parameters(void **state)
{
	struct bench_result *result = made_result("6.1");
	const struct run run = { "a", result };
	struct comparison *comparison;
	const struct column *column;

	(void)state;
	/* Two metrics of the same runs, with one and with three workers; block 2 is unfinished. */
	for (int workers = 1; workers <= 3; workers += 2) {
		for (int metric = 0; metric < 2; metric++) {
			struct bench_series *series = made_series(
				result, "pft", "Set", metric ? "b" : "a", "x/s", NULL, 0);

			set_param(series, "workers", workers);
			add_timed(series, 0, workers == 1 ? 10 : 4);
			add_timed(series, 1, workers == 1 ? 12 : 6);
			if (workers == 1)
				add_timed(series, 2, 100);
		}
	}
	comparison = made_comparison(&run, 1);
	column = &comparison->tables[0].columns[0];
	assert_true(column->has_times);
	assert_true(column->times[CPU_ELAPSED].mean_s == 16);
	assert_true(column->times[CPU_SYSTEM].mean_s == 8);
	assert_true(column->times[CPU_USER].mean_s == 4);
	/* 14 and 18: half their distance. */
	assert_true(fabs(column->times[CPU_ELAPSED].error_percent - 100 * 2 / 16.) < 1e-9);
	comparison_destroy(comparison);
	result_destroy(result);
}

static void a_configuration_without_samples_is_not_judged(void **state)
{
	struct bench_result *result = made_result("6.1");
	const struct run run = { "a", result };
	struct comparison *comparison;
	const struct cell *cell;

	(void)state;
	made_times(result, "Unset", ten, 8);
	made_times(result, "Set", NULL, 0);
	comparison = made_comparison(&run, 1);
	cell = cell_of(comparison, 0, "Set");
	assert_int_equal(cell->verdict, VERDICT_UNCLEAR);
	assert_false(cell->bootstrap.has_change);
	assert_int_equal(comparison->nr_comparisons, 0);
	comparison_destroy(comparison);
	result_destroy(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_base_is_not_compiled_then_disabled_then_the_first),
		cmocka_unit_test(a_base_can_be_asked_for_and_the_control_keeps_its_own),
		cmocka_unit_test(the_noise_is_the_control_s_furthest_end),
		cmocka_unit_test(without_a_control_there_is_no_noise_floor),
		cmocka_unit_test(holm_makes_a_lone_borderline_verdict_unclear),
		cmocka_unit_test(rows_are_in_the_order_of_metrics_then_of_numbers),
		cmocka_unit_test(a_parameter_that_varies_is_in_the_row_s_name),
		cmocka_unit_test(each_machine_is_compared_with_its_own_base),
		cmocka_unit_test(another_boot_of_the_machine_uses_the_base_of_the_first),
		cmocka_unit_test(across_results_each_configuration_meets_itself),
		cmocka_unit_test(different_parameters_are_refused),
		cmocka_unit_test(other_workers_are_not_different_parameters),
		cmocka_unit_test(different_meters_are_refused),
		cmocka_unit_test(different_units_are_refused),
		cmocka_unit_test(the_same_series_twice_is_refused),
		cmocka_unit_test(a_table_that_would_eat_memory_is_refused),
		cmocka_unit_test(a_busy_machine_is_flagged),
		cmocka_unit_test(times_are_of_one_run_over_all_its_parameters),
		cmocka_unit_test(a_configuration_without_samples_is_not_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
