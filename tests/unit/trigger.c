/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reclaim/trigger.h"

#define NS_PER_MS 1000000ull
#define START_NS  (777 * 1000 * NS_PER_MS)

static void what_is_no_trigger_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		" ",
		"some",
		"some 150000",
		"some 150000 ",
		"some150000 1000000",
		"150000 1000000",
		"full",
		"fulls 150000 1000000",
		"Some 150000 1000000",
		"most 150000 1000000",
		" some 150000 1000000",
		"some\n150000 1000000",
		"some 150000 1000000 1",
		"some 150000 1000000x",
		"some 150000x 1000000",
		"some 150000.0 1000000",
		"some -1 1000000",
		"some +1 1000000",
		"some 0x100 1000000",
		"some 1e5 1000000",
		"some 150000 -1000000",
		"some 0 1000000",
		"some 1000001 1000000",
		"some 150000 499999",
		"some 150000 0",
		"some 150000 10000001",
		"some 150000 18446744073709551616",
		"some 18446744073709701616 1000000",
		"some 150000 1000000\nsome 150000 1000000",
		"full 150000\n1000000",
	};
	struct trigger trigger, untouched;

	(void)state;
	memset(&trigger, 0x5a, sizeof(trigger));
	untouched = trigger;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(trigger_parse(bad[i], &trigger), -EINVAL);
	assert_memory_equal(&trigger, &untouched, sizeof(trigger));
}

static void what_is_a_trigger_is_read(void **state)
{
	static const struct {
		const char *text;
		enum average_state state;
		uint64_t stall_us, window_us;
	} good[] = {
		{ "some 150000 1000000", AVERAGE_SOME, 150000, 1000000 },
		{ "full 1 500000", AVERAGE_FULL, 1, 500000 },
		{ "full 10000000 10000000\n", AVERAGE_FULL, 10000000, 10000000 },
		{ "some  70000\t 2000000 \n", AVERAGE_SOME, 70000, 2000000 },
		{ "some 000500000 0500000", AVERAGE_SOME, 500000, 500000 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct trigger trigger;

		assert_int_equal(trigger_parse(good[i].text, &trigger), 0);
		assert_int_equal(trigger.state, good[i].state);
		assert_int_equal(trigger.stall_ns, good[i].stall_us * 1000);
		assert_int_equal(trigger.window_ns, good[i].window_us * 1000);
	}
}

/* 100 ms in one second. Times from here on are milliseconds since the beginning. */
static struct trigger begin(void)
{
	struct trigger trigger;

	assert_int_equal(trigger_parse("some 100000 1000000", &trigger), 0);
	trigger_begin(&trigger, START_NS, 50 * NS_PER_MS);
	return trigger;
}

static bool update(struct trigger *trigger, uint64_t ms, uint64_t total_ms)
{
	return trigger_update(trigger, START_NS + ms * NS_PER_MS, (50 + total_ms) * NS_PER_MS);
}

static void it_wakes_once_there_was_stall_enough(void **state)
{
	struct trigger trigger = begin();

	(void)state;
	assert_false(update(&trigger, 10, 0));
	assert_false(update(&trigger, 200, 99));
	assert_true(update(&trigger, 201, 100));
}

static void it_wakes_once_a_window_at_most(void **state)
{
	struct trigger trigger = begin();
	unsigned int nr_wakes = 0;

	(void)state;
	/* Stalled without an end, and looked at all the time: 10 s and the first one. */
	for (unsigned int ms = 0; ms <= 10100; ms++)
		nr_wakes += update(&trigger, ms, ms);
	assert_int_equal(nr_wakes, 11);
}

static void what_came_too_early_is_told_when_the_window_is_over(void **state)
{
	struct trigger trigger = begin();

	(void)state;
	assert_true(update(&trigger, 100, 100));
	assert_false(update(&trigger, 300, 300));
	assert_false(update(&trigger, 1099, 300));
	assert_true(update(&trigger, 1100, 300));
	assert_false(update(&trigger, 2300, 300));
}

static void stall_of_long_ago_does_not_count(void **state)
{
	struct trigger trigger = begin();

	(void)state;
	assert_false(update(&trigger, 900, 60));
	/* A look at the beginning of the next stall, as there is one, and one at its end. */
	assert_false(update(&trigger, 50000, 60));
	assert_false(update(&trigger, 50060, 120));
	assert_true(update(&trigger, 50100, 160));
}

/* 60 ms at the end of one window, and 60 ms at the beginning of the next. */
static void the_window_slides(void **state)
{
	struct trigger trigger = begin();

	(void)state;
	assert_false(update(&trigger, 1001, 60));
	assert_true(update(&trigger, 1101, 120));
}

static void a_little_stall_all_the_time_is_not_enough(void **state)
{
	struct trigger trigger = begin();

	(void)state;
	/* 9 % of the time. */
	for (unsigned int ms = 0; ms <= 20000; ms += 100)
		assert_false(update(&trigger, ms, ms * 9 / 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_trigger_is_refused),
		cmocka_unit_test(what_is_a_trigger_is_read),
		cmocka_unit_test(it_wakes_once_there_was_stall_enough),
		cmocka_unit_test(it_wakes_once_a_window_at_most),
		cmocka_unit_test(what_came_too_early_is_told_when_the_window_is_over),
		cmocka_unit_test(stall_of_long_ago_does_not_count),
		cmocka_unit_test(the_window_slides),
		cmocka_unit_test(a_little_stall_all_the_time_is_not_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
