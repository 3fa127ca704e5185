/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "charge/charge.h"
#include "charge/counter.h"

static uint32_t root, top, leaf;
static uint64_t nr_underflow_bytes;

static void count_underflow(uint32_t counter, uint64_t nr_bytes)
{
	(void)counter;
	nr_underflow_bytes += nr_bytes;
}

static int set_up(void **state)
{
	(void)state;
	charge_ops.underflow = count_underflow;
	if (!counter_table.rows && counter_table_init())
		return -1;
	root = counter_create(0);
	top = counter_create(root);
	leaf = counter_create(top);
	return root && top && leaf ? counter_make_limit(top) : -1;
}

static uint64_t usage(uint32_t id)
{
	return counter_row(id)->usage;
}

static void an_add_that_fails_above_leaves_nothing_below(void **state)
{
	(void)state;
	counter_set_max(top, 100);
	assert_int_equal(counter_try_add(leaf, 0, 60, false), 0);
	assert_int_equal(counter_try_add(leaf, 0, 41, false), top);
	assert_int_equal(usage(leaf), 60);
	assert_int_equal(usage(top), 60);
	assert_int_equal(counter_try_add(leaf, 0, 40, false), 0);
	assert_int_equal(usage(root), 100);
	assert_int_equal(counter_headroom(leaf, false), 0);
}

static void sizes_near_the_end_of_the_range_do_not_wrap(void **state)
{
	(void)state;
	counter_set_max(top, UINT64_MAX - 1);
	assert_int_equal(counter_try_add(leaf, 0, UINT64_MAX, false), leaf);
	assert_int_equal(counter_try_add(leaf, 0, COUNTER_USAGE_MAX - 10, false), 0);
	assert_int_equal(counter_try_add(leaf, 0, 11, false), leaf);
	assert_int_equal(counter_try_add(top, 0, 10, false), 0);
	assert_int_equal(counter_try_add(top, 0, 1, false), top);
	assert_int_equal(counter_row(root)->peak, COUNTER_USAGE_MAX);
}

static void a_part_of_a_path_can_be_charged(void **state)
{
	uint32_t other = counter_create(top);

	(void)state;
	counter_set_max(top, 50);
	assert_int_equal(counter_try_add(leaf, 0, 50, false), 0);
	assert_int_equal(counter_common(leaf, other), top);
	assert_int_equal(counter_common(other, top), top);
	assert_int_equal(counter_try_add(other, top, 50, false), 0);
	counter_sub(leaf, top, 50);
	assert_int_equal(usage(leaf), 0);
	assert_int_equal(usage(other), 50);
	assert_int_equal(usage(top), 50);
}

static void the_peak_stays_and_counts_only_what_was_admitted(void **state)
{
	(void)state;
	counter_set_max(top, 100);
	assert_int_equal(counter_try_add(leaf, 0, 70, false), 0);
	assert_int_equal(counter_try_add(leaf, 0, 70, false), top);
	counter_sub(leaf, 0, 50);
	assert_int_equal(counter_row(leaf)->peak, 70);
	assert_int_equal(counter_row(root)->peak, 70);
}

static void the_reserve_is_left_to_those_who_may_use_it(void **state)
{
	(void)state;
	counter_set_max(top, 100);
	counter_set_reserve(top, 30);
	assert_int_equal(counter_try_add(leaf, 0, 71, false), top);
	assert_int_equal(counter_try_add(leaf, 0, 70, false), 0);
	assert_int_equal(counter_try_add(leaf, 0, 1, false), top);
	assert_int_equal(counter_try_add(leaf, 0, 30, true), 0);
	assert_int_equal(counter_try_add(leaf, 0, 1, true), top);
	counter_set_reserve(top, 200);
	assert_int_equal(counter_headroom(leaf, false), 0);
}

static void underflow_is_clamped_where_it_is_met(void **state)
{
	(void)state;
	nr_underflow_bytes = 0;
	assert_int_equal(counter_try_add(top, 0, 40, false), 0);
	assert_int_equal(counter_try_add(leaf, 0, 10, false), 0);
	counter_sub(leaf, 0, 15);
	assert_int_equal(usage(leaf), 0);
	assert_int_equal(usage(top), 40);
	assert_int_equal(nr_underflow_bytes, 5);
}

static void a_refusal_is_remembered_until_something_is_given_back(void **state)
{
	(void)state;
	counter_set_max(top, 100);
	assert_int_equal(counter_try_add(leaf, 0, 90, false), 0);
	assert_int_equal(counter_refused(leaf, 20), 0);
	counter_remember_refusal(top, 20, counter_row(top)->nr_uncharges);
	assert_int_equal(counter_refused(leaf, 20), top);
	assert_int_equal(counter_refused(leaf, 21), top);
	assert_int_equal(counter_refused(leaf, 19), 0);
	counter_sub(leaf, 0, 1);
	assert_int_equal(counter_refused(leaf, 20), 0);
	counter_remember_refusal(top, 20, counter_row(top)->nr_uncharges);
	counter_set_max(top, 200);
	assert_int_equal(counter_refused(leaf, 20), 0);
}

static void the_largest_children_are_candidates(void **state)
{
	uint32_t children[20];
	unsigned int nr_seen = 0;

	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		children[i] = counter_create(leaf);
		assert_int_equal(counter_try_add(children[i], 0, 1 + (i * 7) % 20, false), 0);
	}
	/* 18, 19 and 20 are the largest: i * 7 mod 20 is 17, 18, 19 for i = 11, 14, 17. */
	for (unsigned int i = 0; i < COUNTER_NR_CANDIDATES; i++) {
		uint32_t id = counter_candidates(counter_row(leaf))->ids[i];

		nr_seen += id == children[11] || id == children[14] || id == children[17];
	}
	assert_int_equal(nr_seen, 3);
}

static void below_means_here_or_further_down(void **state)
{
	(void)state;
	assert_true(counter_is_below(leaf, top));
	assert_true(counter_is_below(leaf, root));
	assert_true(counter_is_below(top, top));
	assert_false(counter_is_below(top, leaf));
	assert_false(counter_is_below(root, top));
}

int main(void)
{
#define test(name) cmocka_unit_test_setup(name, set_up)
	const struct CMUnitTest tests[] = {
		test(an_add_that_fails_above_leaves_nothing_below),
		test(sizes_near_the_end_of_the_range_do_not_wrap),
		test(a_part_of_a_path_can_be_charged),
		test(the_peak_stays_and_counts_only_what_was_admitted),
		test(the_reserve_is_left_to_those_who_may_use_it),
		test(underflow_is_clamped_where_it_is_met),
		test(a_refusal_is_remembered_until_something_is_given_back),
		test(the_largest_children_are_candidates),
		test(below_means_here_or_further_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
