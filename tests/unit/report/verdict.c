/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/verdict.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

#include "made.h"

static struct bootstrap interval(double low, double high)
{
	const struct bootstrap b = {
		.nr_blocks = 20,
		.has_change = true,
		.change_percent = (low + high) / 2,
		.has_interval = true,
		.low_percent = low,
		.high_percent = high,
	};

	return b;
}

static enum verdict judge(double low, double high)
{
	const struct bootstrap b = interval(low, high);

	return verdict_of(&b, BENCH_LOWER, 1, 0);
}

static void equal_comes_before_costs(void **state)
{
	(void)state;
	/* Excludes zero, and is too small to matter. */
	assert_int_equal(judge(0.2, 0.8), VERDICT_EQUAL);
	assert_int_equal(judge(-0.8, -0.2), VERDICT_EQUAL);
	assert_int_equal(judge(-1, 1), VERDICT_EQUAL);
}

static void costs_and_saves_need_zero_outside(void **state)
{
	(void)state;
	assert_int_equal(judge(0.2, 1.2), VERDICT_COSTS);
	assert_int_equal(judge(-1.2, -0.2), VERDICT_SAVES);
	assert_int_equal(judge(0, 1.2), VERDICT_UNCLEAR);
	assert_int_equal(judge(-0.1, 1.2), VERDICT_UNCLEAR);
	assert_int_equal(judge(-3, 0.1), VERDICT_UNCLEAR);
}

static void a_rate_that_rises_saves(void **state)
{
	const struct bootstrap up = interval(2, 3), down = interval(-3, -2);

	(void)state;
	assert_int_equal(verdict_of(&up, BENCH_HIGHER, 1, 0), VERDICT_SAVES);
	assert_int_equal(verdict_of(&down, BENCH_HIGHER, 1, 0), VERDICT_COSTS);
}

static void without_an_interval_nothing_is_clear(void **state)
{
	struct bootstrap b = interval(2, 3);

	(void)state;
	b.has_interval = false;
	assert_int_equal(verdict_of(&b, BENCH_LOWER, 1, 0), VERDICT_UNCLEAR);
	b.nr_blocks = 1;
	assert_int_equal(verdict_runs_needed(&b, 1, 1), 4);
}

static void an_adjusted_p_value_takes_costs_away_but_not_equal(void **state)
{
	const struct bootstrap costs = interval(0.2, 1.2), equal = interval(0.2, 0.8);

	(void)state;
	assert_int_equal(verdict_of(&costs, BENCH_LOWER, 1, 0.04), VERDICT_COSTS);
	assert_int_equal(verdict_of(&costs, BENCH_LOWER, 1, 0.06), VERDICT_UNCLEAR);
	assert_int_equal(verdict_of(&equal, BENCH_LOWER, 1, 0.06), VERDICT_EQUAL);
}

static void every_interval_gets_the_first_verdict_that_holds(void **state)
{
	gsl_rng *generator = gsl_rng_alloc(gsl_rng_taus);

	(void)state;
	for (int i = 0; i < 100000; i++) {
		double one = 6 * gsl_rng_uniform(generator) - 3;
		double other = 6 * gsl_rng_uniform(generator) - 3;
		double low = fmin(one, other), high = fmax(one, other);
		bool is_small = low >= -1 && high <= 1;
		enum verdict verdict = judge(low, high);

		assert_true((verdict == VERDICT_EQUAL) == is_small);
		assert_true((verdict == VERDICT_COSTS) == (!is_small && low > 0));
		assert_true((verdict == VERDICT_SAVES) == (!is_small && high < 0));
		assert_true((verdict == VERDICT_UNCLEAR) == (!is_small && low <= 0 && high >= 0));
		assert_true(*verdict_name(verdict));
	}
	gsl_rng_free(generator);
}

/* The interval as it would be with that many blocks. */
static struct bootstrap with_blocks(const struct bootstrap *b, size_t nr_blocks)
{
	double shrink = sqrt((double)b->nr_blocks / (double)nr_blocks);
	struct bootstrap shrunk = *b;

	shrunk.nr_blocks = nr_blocks;
	shrunk.low_percent = b->change_percent + (b->low_percent - b->change_percent) * shrink;
	shrunk.high_percent = b->change_percent + (b->high_percent - b->change_percent) * shrink;
	return shrunk;
}

static void so_many_more_runs_would_tell_and_fewer_would_not(void **state)
{
	gsl_rng *generator = gsl_rng_alloc(gsl_rng_taus);
	int nr_unclear = 0;

	(void)state;
	while (nr_unclear < 1000) {
		double change = 4 * gsl_rng_uniform(generator) - 2;
		double half = 0.1 + 5 * gsl_rng_uniform(generator);
		struct bootstrap b = interval(change - half, change + half), more, fewer;
		size_t nr_runs;

		if (verdict_of(&b, BENCH_LOWER, 1, 0) != VERDICT_UNCLEAR)
			continue;
		nr_unclear++;
		nr_runs = verdict_runs_needed(&b, 1, 1);
		more = with_blocks(&b, b.nr_blocks + nr_runs + 1);
		assert_int_not_equal(verdict_of(&more, BENCH_LOWER, 1, 0), VERDICT_UNCLEAR);
		if (nr_runs < 3)
			continue;
		fewer = with_blocks(&b, b.nr_blocks + nr_runs - 2);
		assert_int_equal(verdict_of(&fewer, BENCH_LOWER, 1, 0), VERDICT_UNCLEAR);
	}
	gsl_rng_free(generator);
}

static void a_hopeless_number_of_runs_is_bounded(void **state)
{
	const struct bootstrap b = interval(-50, 50);

	(void)state;
	assert_int_equal(verdict_runs_needed(&b, 0, 1), 1000000);
	assert_true(verdict_runs_needed(&b, 1, 1) > 40000);
	assert_true(verdict_runs_needed(&b, 1, 1.5) > 2 * verdict_runs_needed(&b, 1, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_comes_before_costs),
		cmocka_unit_test(costs_and_saves_need_zero_outside),
		cmocka_unit_test(a_rate_that_rises_saves),
		cmocka_unit_test(without_an_interval_nothing_is_clear),
		cmocka_unit_test(an_adjusted_p_value_takes_costs_away_but_not_equal),
		cmocka_unit_test(every_interval_gets_the_first_verdict_that_holds),
		cmocka_unit_test(so_many_more_runs_would_tell_and_fewer_would_not),
		cmocka_unit_test(a_hopeless_number_of_runs_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
