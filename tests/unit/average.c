/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reclaim/average.h"

#define NS_PER_S  1000000000ull
#define NS_PER_MS 1000000ull

/* Any instant will do. */
#define START_NS (12345 * NS_PER_S + 678)

static const bool none[AVERAGE_NR_STATES] = { false, false };
static const bool some[AVERAGE_NR_STATES] = { true, false };
static const bool full[AVERAGE_NR_STATES] = { true, true };

static unsigned int percent(const struct average *average, enum average_span span)
{
	return average_hundredths(average, AVERAGE_SOME, span);
}

static void totals_are_exact(void **state)
{
	struct average average;

	(void)state;
	average_init(&average, START_NS);
	average_advance(&average, none, START_NS + 3 * NS_PER_S);
	average_advance(&average, some, START_NS + 3 * NS_PER_S + 7);
	average_advance(&average, full, START_NS + 100 * NS_PER_S);
	average_advance(&average, none, START_NS + 200 * NS_PER_S);
	assert_int_equal(average.total_ns[AVERAGE_SOME], 97 * NS_PER_S);
	assert_int_equal(average.total_ns[AVERAGE_FULL], 97 * NS_PER_S - 7);
}

static void time_that_goes_back_counts_nothing(void **state)
{
	struct average average;

	(void)state;
	average_init(&average, START_NS);
	average_advance(&average, full, START_NS + NS_PER_S);
	average_advance(&average, full, START_NS);
	average_advance(&average, full, START_NS + NS_PER_S);
	assert_int_equal(average.total_ns[AVERAGE_FULL], NS_PER_S);
}

/* A period of 50 %: the steps of calc_load(): 102400 * (2048 - exp) / 2048, rounded up. */
static void the_first_period_weighs_as_in_the_kernel(void **state)
{
	struct average average;

	(void)state;
	average_init(&average, START_NS);
	average_advance(&average, some, START_NS + NS_PER_S);
	assert_int_equal(percent(&average, AVERAGE_10S), 0);
	average_advance(&average, none, START_NS + 2 * NS_PER_S);
	assert_int_equal(average.loads[AVERAGE_SOME][AVERAGE_10S], 18550);
	assert_int_equal(average.loads[AVERAGE_SOME][AVERAGE_60S], 3350);
	assert_int_equal(average.loads[AVERAGE_SOME][AVERAGE_300S], 700);
	assert_int_equal(percent(&average, AVERAGE_10S), 905);
	assert_int_equal(percent(&average, AVERAGE_60S), 163);
	assert_int_equal(percent(&average, AVERAGE_300S), 34);
	assert_int_equal(average_hundredths(&average, AVERAGE_FULL, AVERAGE_10S), 0);
}

static void a_lasting_stall_comes_to_a_hundred_percent(void **state)
{
	struct average average;

	(void)state;
	average_init(&average, START_NS);
	average_advance(&average, full, START_NS + 3600 * NS_PER_S);
	for (unsigned int span = 0; span < AVERAGE_NR_SPANS; span++)
		assert_int_equal(average_hundredths(&average, AVERAGE_FULL, span), 10000);
}

static void idle_periods_let_it_decay(void **state)
{
	struct average average;
	unsigned int last = 10000;

	(void)state;
	average_init(&average, START_NS);
	average_advance(&average, some, START_NS + 3600 * NS_PER_S);
	for (unsigned int s = 3600; s < 3660; s += 10) {
		average_advance(&average, none, START_NS + (s + 10) * NS_PER_S);
		assert_true(percent(&average, AVERAGE_10S) < last);
		last = percent(&average, AVERAGE_10S);
	}
	/* After six times its span e^-6 is left, 0.25 %. */
	assert_in_range(last, 15, 30);
	assert_in_range(percent(&average, AVERAGE_60S), 3600, 3750);
	average_advance(&average, none, START_NS + 36000 * NS_PER_S);
	for (unsigned int span = 0; span < AVERAGE_NR_SPANS; span++)
		assert_int_equal(percent(&average, span), 0);
}

/* Whoever looks rarely sees what somebody sees who looks all the time. */
static void it_does_not_matter_how_often_one_looks(void **state)
{
	struct average often, seldom;
	uint64_t now_ns = START_NS;
	uint32_t seed = 1;

	(void)state;
	average_init(&often, START_NS);
	average_init(&seldom, START_NS);
	for (unsigned int i = 0; i < 200; i++) {
		const bool *states[] = { none, some, full };
		const bool *is_stalled = states[i % 3];
		uint64_t end_ns;

		seed = seed * 1664525 + 1013904223;
		end_ns = now_ns + (seed >> 18) * NS_PER_MS;
		for (; now_ns + 13 * NS_PER_MS < end_ns; now_ns += 13 * NS_PER_MS)
			average_advance(&often, is_stalled, now_ns);
		now_ns = end_ns;
		average_advance(&often, is_stalled, now_ns);
		average_advance(&seldom, is_stalled, now_ns);
		assert_memory_equal(&often, &seldom, sizeof(often));
	}
	assert_true(percent(&often, AVERAGE_300S) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_are_exact),
		cmocka_unit_test(time_that_goes_back_counts_nothing),
		cmocka_unit_test(the_first_period_weighs_as_in_the_kernel),
		cmocka_unit_test(a_lasting_stall_comes_to_a_hundred_percent),
		cmocka_unit_test(idle_periods_let_it_decay),
		cmocka_unit_test(it_does_not_matter_how_often_one_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
