/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The interval against what is known of made samples. Bounds on counts are four
 * standard deviations of the binomial distribution away from what is promised.
 */
#include "report/bootstrap.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>

#include "made.h"

#define NR_TRIALS 250

static void fill(struct bench_series *series, gsl_rng *generator, size_t nr_samples, double mean,
		 double spread, const double *shared)
{
	for (size_t i = 0; i < nr_samples; i++) {
		double value =
			mean * (1 + (shared ? shared[i] : 0) + gsl_ran_gaussian(generator, spread));
		const struct bench_sample sample = {
			(uint32_t)i,        series->better == BENCH_LOWER ? value : 1e6 / value,
			BENCH_NOT_MEASURED, BENCH_NOT_MEASURED,
			BENCH_NOT_MEASURED, 1
		};

		assert_int_equal(series_add_sample(series, &sample), 0);
	}
}

/* How many of NR_TRIALS intervals contain the change of 3 % that is in the samples. */
static int count_covering(size_t nr_blocks, const char *unit, double spread, bool is_median)
{
	gsl_rng *generator = gsl_rng_alloc(gsl_rng_taus);
	double truth = unit[0] == 's' ? 3 : 100 / 1.03 - 100;
	int nr_covering = 0;

	gsl_rng_set(generator, nr_blocks);
	for (int trial = 0; trial < NR_TRIALS; trial++) {
		struct bench_result *result = made_result("6.1");
		struct bench_series *base, *series;
		struct bootstrap b;

		base = made_series(result, "w", "base", "m", unit, NULL, 0);
		series = made_series(result, "w", "Set", "m", unit, NULL, 0);
		fill(base, generator, nr_blocks, 10, spread, NULL);
		fill(series, generator, nr_blocks, 10.3, spread, NULL);
		assert_int_equal(bootstrap_compare(base, series, true, (uint64_t)trial, &b), 0);
		assert_true(b.has_interval);
		assert_true(b.low_percent <= b.change_percent);
		assert_true(b.change_percent <= b.high_percent);
		if (is_median)
			nr_covering +=
				b.median_low_percent <= truth && truth <= b.median_high_percent;
		else
			nr_covering += b.low_percent <= truth && truth <= b.high_percent;
		result_destroy(result);
	}
	gsl_rng_free(generator);
	return nr_covering;
}

static void assert_covers(int nr_covering, double least, double most)
{
	double slack = 4 * sqrt(NR_TRIALS * 0.95 * 0.05);

	print_message("covered %d of %d\n", nr_covering, NR_TRIALS);
	if (nr_covering < least * NR_TRIALS - slack || nr_covering > most * NR_TRIALS + slack)
		fail_msg("covered %d of %d, expected %.2f to %.2f +- %.0f", nr_covering, NR_TRIALS,
			 least, most, slack);
}

static void the_interval_covers_the_truth_in_95_percent_of_runs(void **state)
{
	(void)state;
	assert_covers(count_covering(30, "s", 0.02, false), 0.95, 0.95);
	assert_covers(count_covering(10, "s", 0.02, false), 0.94, 0.96);
}

static void it_does_so_for_rates(void **state)
{
	(void)state;
	assert_covers(count_covering(20, "x/sec", 0.02, false), 0.95, 0.95);
}

static void it_does_so_for_few_blocks(void **state)
{
	(void)state;
	/* Here Student's distribution is stretched further than the replicates reach. */
	assert_covers(count_covering(5, "s", 0.02, false), 0.92, 0.98);
	assert_covers(count_covering(3, "s", 0.02, false), 0.92, 0.99);
}

static void the_median_has_an_interval_too(void **state)
{
	(void)state;
	assert_covers(count_covering(25, "s", 0.02, true), 0.93, 0.99);
}

static void what_disturbs_a_whole_block_cancels_out_when_paired(void **state)
{
	gsl_rng *generator = gsl_rng_alloc(gsl_rng_taus);
	struct bench_result *result = made_result("6.1");
	struct bench_series *base = made_times(result, "base", NULL, 0);
	struct bench_series *series = made_times(result, "Set", NULL, 0);
	struct bootstrap paired, unpaired;
	double shared[20];

	(void)state;
	for (size_t i = 0; i < NR(shared); i++)
		shared[i] = gsl_ran_gaussian(generator, 0.10);
	fill(base, generator, NR(shared), 10, 0.001, shared);
	fill(series, generator, NR(shared), 10.3, 0.001, shared);
	assert_int_equal(bootstrap_compare(base, series, true, 1, &paired), 0);
	assert_int_equal(bootstrap_compare(base, series, false, 1, &unpaired), 0);
	assert_true(paired.high_percent - paired.low_percent < 0.5);
	assert_true(unpaired.high_percent - unpaired.low_percent > 5);
	gsl_rng_free(generator);
	result_destroy(result);
}

static void the_same_seed_gives_the_same_figures(void **state)
{
	const double before[] = { 10, 11, 10.5, 9.8, 10.1, 10.2, 9.9 };
	const double after[] = { 10.3, 11.2, 10.4, 10.1, 10.6, 10.2, 10.1 };
	struct bench_result *result = made_result("6.1");
	struct bench_series *base = made_times(result, "base", before, NR(before));
	struct bench_series *series = made_times(result, "Set", after, NR(after));
	struct bootstrap one, same, other;

	(void)state;
	assert_int_equal(bootstrap_compare(base, series, true, 7, &one), 0);
	assert_int_equal(bootstrap_compare(base, series, true, 7, &same), 0);
	assert_int_equal(bootstrap_compare(base, series, true, 8, &other), 0);
	assert_true(one.low_percent == same.low_percent && one.p_value == same.p_value);
	assert_true(one.median_high_percent == same.median_high_percent);
	assert_true(one.low_percent != other.low_percent);
	result_destroy(result);
}

static void one_block_tells_nothing_of_spread(void **state)
{
	const double one[] = { 10 }, two[] = { 10, 10.4 };
	struct bench_result *result = made_result("6.1");
	struct bootstrap b;

	(void)state;
	assert_int_equal(bootstrap_compare(made_times(result, "base", one, 1),
					   made_times(result, "Set", two, 1), true, 1, &b),
			 0);
	assert_true(b.has_change);
	assert_false(b.has_interval);
	assert_int_equal(b.nr_blocks, 1);
	/* And two tell little: Student's factor is 12.7. */
	assert_int_equal(bootstrap_compare(made_times(result, "base2", two, 2),
					   made_times(result, "Set2", two, 2), false, 1, &b),
			 0);
	assert_true(b.has_interval);
	assert_true(b.high_percent > 20);
	result_destroy(result);
}

static void an_unfinished_block_does_not_break_the_pairing(void **state)
{
	const double before[] = { 10, 10.1, 10.2, 9.9, 9.8, 10 };
	struct bench_result *result = made_result("6.1");
	struct bench_series *base = made_times(result, "base", before, NR(before));
	struct bench_series *series = made_times(result, "Set", before, NR(before) - 1);
	struct bootstrap b;

	(void)state;
	assert_int_equal(bootstrap_compare(base, series, true, 1, &b), 0);
	assert_int_equal(b.nr_blocks, NR(before) - 1);
	assert_true(b.has_interval);
	assert_true(b.low_percent <= 0 && b.high_percent >= 0);
	result_destroy(result);
}

static void exact_counts_have_an_interval_without_width(void **state)
{
	const double before[] = { 2884, 2884, 2884, 2884, 2884 };
	const double after[] = { 3301, 3301, 3301, 3301, 3301 };
	struct bench_result *result = made_result("6.1");
	struct bootstrap b;

	(void)state;
	assert_int_equal(bootstrap_compare(made_times(result, "base", before, 5),
					   made_times(result, "Set", after, 5), true, 1, &b),
			 0);
	assert_true(fabs(b.low_percent - b.change_percent) < 1e-9);
	assert_true(fabs(b.high_percent - b.change_percent) < 1e-9);
	assert_true(b.p_value == 0);
	result_destroy(result);
}

static void nothing_to_something_is_no_percentage(void **state)
{
	const double nothing[] = { 0, 0, 0, 0, 0 }, something[] = { 0, 0, 1, 0, 0 };
	struct bench_result *result = made_result("6.1");
	struct bench_series *zero = made_times(result, "base", nothing, 5);
	struct bootstrap b;

	(void)state;
	assert_int_equal(
		bootstrap_compare(zero, made_times(result, "a", something, 5), true, 1, &b), 0);
	assert_false(b.has_change);
	assert_false(b.has_interval);
	assert_int_equal(bootstrap_compare(zero, made_times(result, "b", nothing, 5), true, 1, &b),
			 0);
	assert_true(b.has_interval);
	assert_true(b.low_percent == 0 && b.high_percent == 0 && b.p_value == 1);
	assert_int_equal(bootstrap_compare(zero, made_times(result, "c", NULL, 0), true, 1, &b), 0);
	assert_false(b.has_change);
	result_destroy(result);
}

static void p_values_of_no_difference_are_uniform(void **state)
{
	gsl_rng *generator = gsl_rng_alloc(gsl_rng_taus);
	double slack = 4 * sqrt(NR_TRIALS * 0.05 * 0.95);
	int nr_below = 0, nr_excluding = 0;

	(void)state;
	for (int trial = 0; trial < NR_TRIALS; trial++) {
		struct bench_result *result = made_result("6.1");
		struct bench_series *base = made_times(result, "base", NULL, 0);
		struct bench_series *series = made_times(result, "AA", NULL, 0);
		struct bootstrap b;

		fill(base, generator, 20, 10, 0.02, NULL);
		fill(series, generator, 20, 10, 0.02, NULL);
		assert_int_equal(bootstrap_compare(base, series, true, (uint64_t)trial, &b), 0);
		nr_below += b.p_value < 0.05;
		nr_excluding += b.low_percent > 0 || b.high_percent < 0;
		result_destroy(result);
	}
	print_message("p < 0.05 in %d, zero excluded in %d of %d\n", nr_below, nr_excluding,
		      NR_TRIALS);
	assert_true(fabs(nr_below - 0.05 * NR_TRIALS) <= slack);
	/* The p value is the interval turned around: they may differ in a borderline case. */
	assert_true(abs(nr_below - nr_excluding) <= 2);
	gsl_rng_free(generator);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interval_covers_the_truth_in_95_percent_of_runs),
		cmocka_unit_test(it_does_so_for_rates),
		cmocka_unit_test(it_does_so_for_few_blocks),
		cmocka_unit_test(the_median_has_an_interval_too),
		cmocka_unit_test(what_disturbs_a_whole_block_cancels_out_when_paired),
		cmocka_unit_test(the_same_seed_gives_the_same_figures),
		cmocka_unit_test(one_block_tells_nothing_of_spread),
		cmocka_unit_test(an_unfinished_block_does_not_break_the_pairing),
		cmocka_unit_test(exact_counts_have_an_interval_without_width),
		cmocka_unit_test(nothing_to_something_is_no_percentage),
		cmocka_unit_test(p_values_of_no_difference_are_uniform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
