/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cmocka_test.h"
#include "schedule.h"

static const size_t sizes[] = { 3, 1, 5, 4 };

#define NR_SUITES 4
#define NR_JOBS   13

static void a_round_has_one_block_of_every_job(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 50; round++) {
		size_t order[NR_JOBS], seen[NR_JOBS] = { 0 };

		schedule_round(7, round, sizes, NR_SUITES, order);
		for (size_t i = 0; i < NR_JOBS; i++) {
			assert_in_range(order[i], 0, NR_JOBS - 1);
			seen[order[i]]++;
		}
		for (size_t i = 0; i < NR_JOBS; i++)
			assert_int_equal(seen[i], 1);
	}
}

static size_t suite_of(size_t job)
{
	size_t suite = 0;

	for (size_t first = 0; job >= first + sizes[suite]; suite++)
		first += sizes[suite];
	return suite;
}

static void jobs_that_are_compared_stay_together(void **state)
{
	size_t order[NR_JOBS];

	(void)state;
	for (unsigned int round = 0; round < 50; round++) {
		unsigned int nr_changes = 0;

		schedule_round(7, round, sizes, NR_SUITES, order);
		for (size_t i = 1; i < NR_JOBS; i++)
			nr_changes += suite_of(order[i]) != suite_of(order[i - 1]);
		assert_int_equal(nr_changes, NR_SUITES - 1);
	}
}

static void the_same_seed_gives_the_same_order(void **state)
{
	size_t first[NR_JOBS], second[NR_JOBS];

	(void)state;
	for (unsigned int round = 0; round < 20; round++) {
		schedule_round(42, round, sizes, NR_SUITES, first);
		schedule_round(42, round, sizes, NR_SUITES, second);
		assert_memory_equal(first, second, sizeof(first));
	}
}

static void seeds_and_rounds_differ_in_order(void **state)
{
	size_t base[NR_JOBS], other[NR_JOBS];

	(void)state;
	schedule_round(42, 0, sizes, NR_SUITES, base);
	schedule_round(43, 0, sizes, NR_SUITES, other);
	assert_memory_not_equal(base, other, sizeof(base));
	schedule_round(42, 1, sizes, NR_SUITES, other);
	assert_memory_not_equal(base, other, sizeof(base));
}

/*
 * Over 4000 rounds each of 5 jobs is first in its suite 800 times, give or take six standard
 * deviations of the binomial distribution: 6 * sqrt(4000 * 0.2 * 0.8) = 152.
 */
static void every_job_comes_first_equally_often(void **state)
{
	const size_t size = 5;
	unsigned int nr_first[5] = { 0 };
	size_t order[5];

	(void)state;
	for (unsigned int round = 0; round < 4000; round++) {
		schedule_round(1, round, &size, 1, order);
		nr_first[order[0]]++;
	}
	for (unsigned int i = 0; i < 5; i++)
		assert_in_range(nr_first[i], 800 - 152, 800 + 152);
}

static void assert_workers(unsigned int nr_max, const unsigned int *expected, size_t nr_expected)
{
	unsigned int workers[32];

	assert_int_equal(schedule_workers(nr_max, workers, 32), nr_expected);
	assert_memory_equal(workers, expected, nr_expected * sizeof(*expected));
}

static void worker_counts_follow_mmtests(void **state)
{
	(void)state;
	assert_workers(1, (unsigned int[]){ 1 }, 1);
	assert_workers(2, (unsigned int[]){ 1, 2 }, 2);
	assert_workers(8, (unsigned int[]){ 1, 3, 5, 7, 8 }, 5);
	assert_workers(24, (unsigned int[]){ 1, 3, 5, 7, 12, 18, 24 }, 7);
	assert_workers(32, (unsigned int[]){ 1, 3, 5, 7, 12, 18, 24, 30, 32 }, 9);
	assert_workers(96, (unsigned int[]){ 1, 4, 7, 12, 21, 30, 48, 79, 96 }, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_round_has_one_block_of_every_job),
		cmocka_unit_test(jobs_that_are_compared_stay_together),
		cmocka_unit_test(the_same_seed_gives_the_same_order),
		cmocka_unit_test(seeds_and_rounds_differ_in_order),
		cmocka_unit_test(every_job_comes_first_equally_often),
		cmocka_unit_test(worker_counts_follow_mmtests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
