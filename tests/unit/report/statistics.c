/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "made.h"

#define assert_close(value, expected) assert_double_equal_within(value, expected, __LINE__)

static void assert_double_equal_within(double value, double expected, int line)
{
	if (!(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected))))
		fail_msg("line %d: %.17g, expected %.17g", line, value, expected);
}

static void the_median_is_right_for_odd_and_even_counts(void **state)
{
	const double odd[] = { 9, 1, 2 };
	const double even[] = { 9, 1, 2, 4 };
	const double two[] = { 3, 1 };

	(void)state;
	assert_close(statistics_median(odd, 3), 2);
	assert_close(statistics_median(even, 4), 3);
	assert_close(statistics_median(two, 2), 2);
	assert_close(statistics_median(odd, 1), 9);
	assert_true(isnan(statistics_median(odd, 0)));
}

static void the_harmonic_mean_is_total_work_over_total_time(void **state)
{
	const double rates[] = { 60, 30 };
	const double with_zero[] = { 60, 0 };

	(void)state;
	/* One unit of work at 60, one at 30: two in a twentieth. */
	assert_close(statistics_harmonic_mean(rates, 2), 40);
	assert_close(statistics_harmonic_mean(with_zero, 2), 0);
	assert_true(isnan(statistics_harmonic_mean(rates, 0)));
}

static void a_geometric_mean_of_many_large_values_does_not_overflow(void **state)
{
	double large[1000], ratios[] = { 0.5, 2, 4 };

	(void)state;
	for (size_t i = 0; i < NR(large); i++)
		large[i] = 1e300;
	assert_true(fabs(statistics_geometric_mean(large, NR(large)) / 1e300 - 1) < 1e-9);
	assert_close(statistics_geometric_mean(ratios, 3), cbrt(4));
	ratios[1] = 0;
	assert_true(isnan(statistics_geometric_mean(ratios, 3)));
}

static void the_best_95_percent_leave_out_the_worst_for_either_sense(void **state)
{
	double samples[20];

	(void)state;
	for (size_t i = 0; i < 20; i++)
		samples[(i * 7) % 20] = (double)(i + 1);
	/* 19 of 20: without the 20, or without the 1. */
	assert_close(statistics_best95(samples, 20, BENCH_LOWER), 10);
	{
		double sum = 0;

		for (int i = 2; i <= 20; i++)
			sum += 1.0 / i;
		assert_close(statistics_best95(samples, 20, BENCH_HIGHER), 19 / sum);
	}
	/* One sample is its own best. */
	assert_close(statistics_best95(samples, 1, BENCH_HIGHER), samples[0]);
}

static void the_standard_error_is_that_of_the_mean(void **state)
{
	const double times[] = { 9, 11, 9, 11 };
	const double rates[] = { 1 / 9.0, 1 / 11.0, 1 / 9.0, 1 / 11.0 };

	(void)state;
	/* The deviation is sqrt(4/3), of four samples half of it, of 10 in percent. */
	assert_close(statistics_standard_error_percent(times, 4, BENCH_LOWER),
		     10 * sqrt(4 / 3.) / 2);
	/* A rate's is that of its time. */
	assert_close(statistics_standard_error_percent(rates, 4, BENCH_HIGHER),
		     10 * sqrt(4 / 3.) / 2);
	assert_true(isnan(statistics_standard_error_percent(times, 1, BENCH_LOWER)));
}

static void samples_of_one_block_do_not_count_as_independent(void **state)
{
	struct bench_result *result = made_result("6.1");
	struct bench_series *series = made_times(result, "Set", NULL, 0);
	struct statistics statistics;
	double with_copies;

	(void)state;
	/* Four blocks, each measured 25 times with the same outcome: no more is known. */
	for (uint32_t i = 0; i < 100; i++) {
		const struct bench_sample sample = { i % 4, i % 2 ? 11 : 9, 0, 0, 0, 1 };

		assert_int_equal(series_add_sample(series, &sample), 0);
	}
	assert_int_equal(statistics_of_series(series, &statistics), 0);
	with_copies = statistics.standard_error_percent;
	assert_close(with_copies, 10 * sqrt(4 / 3.) / 2);
	assert_int_equal(statistics.nr_samples, 100);
	assert_close(statistics.mean, 10);
	assert_close(statistics.min, 9);
	assert_close(statistics.max, 11);
	assert_close(statistics.stddev, sqrt(100 / 99.));
	assert_close(statistics.coefficient_percent, 10 * sqrt(100 / 99.));
	result_destroy(result);
}

static void a_series_without_samples_has_no_values(void **state)
{
	struct bench_result *result = made_result("6.1");
	struct statistics statistics;

	(void)state;
	assert_int_equal(statistics_of_series(made_times(result, "Set", NULL, 0), &statistics), 0);
	assert_int_equal(statistics.nr_samples, 0);
	assert_true(isnan(statistics.mean));
	assert_true(isnan(statistics.best95));
	result_destroy(result);
}

static void holm_multiplies_the_smallest_by_the_number_and_never_descends(void **state)
{
	double p_values[] = { 0.04, 0.01, NAN, 0.03, 0.005 };

	(void)state;
	assert_int_equal(statistics_holm(p_values, NR(p_values)), 0);
	assert_close(p_values[4], 0.02);
	assert_close(p_values[1], 0.03);
	assert_close(p_values[3], 0.06);
	assert_close(p_values[0], 0.06);
	assert_true(isnan(p_values[2]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_median_is_right_for_odd_and_even_counts),
		cmocka_unit_test(the_harmonic_mean_is_total_work_over_total_time),
		cmocka_unit_test(a_geometric_mean_of_many_large_values_does_not_overflow),
		cmocka_unit_test(the_best_95_percent_leave_out_the_worst_for_either_sense),
		cmocka_unit_test(the_standard_error_is_that_of_the_mean),
		cmocka_unit_test(samples_of_one_block_do_not_count_as_independent),
		cmocka_unit_test(a_series_without_samples_has_no_values),
		cmocka_unit_test(holm_multiplies_the_smallest_by_the_number_and_never_descends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
