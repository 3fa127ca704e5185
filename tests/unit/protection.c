/* SPDX-License-Identifier: MIT */
/* What reclaim spares: the kernel's formulas, on numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "reclaim/protection.h"

static void no_more_is_protected_than_is_used(void **state)
{
	(void)state;
	assert_int_equal(protection_used(100, 300), 100);
	assert_int_equal(protection_used(300, 100), 100);
	assert_int_equal(protection_used(300, UINT64_MAX), 300);
	assert_int_equal(protection_used(0, 300), 0);
}

static void siblings_that_ask_for_no_more_than_there_is_get_it(void **state)
{
	(void)state;
	assert_int_equal(protection_effective(100, 250, 250), 100);
	assert_int_equal(protection_effective(100, 100, 1000), 100);
	assert_int_equal(protection_effective(0, 0, 0), 0);
}

static void siblings_that_ask_for_more_share_it(void **state)
{
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(protection_effective(300, 600, 200), 100);
	assert_int_equal(protection_effective(100, 600, 0), 0);
	for (uint64_t used = 1; used <= 10; used++)
		sum += protection_effective(used << 56, (uint64_t)55 << 56, (uint64_t)11 << 56);
	/* Of numbers of this size a product would not fit in 64 bits. */
	assert_true(sum <= (uint64_t)11 << 56 && sum > ((uint64_t)11 << 56) - 10);
}

static void the_part_that_is_not_spared_is_what_lies_above_protection(void **state)
{
	(void)state;
	assert_int_equal(protection_part(1000, 1000, 0), 1000);
	/* Half of what is used is protected, whatever of it can be reclaimed. */
	assert_int_equal(protection_part(1000, 1999, 1000), 500);
	assert_int_equal(protection_part(100, 1999, 1000), 50);
	/* As in the kernel, what is protected as a whole still gives a trifle of it. */
	assert_int_equal(protection_part(1000, 999, 5000), 1000 - 1000 * 5000 / 5001);
	assert_int_equal(protection_part(0, 1000, 500), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_more_is_protected_than_is_used),
		cmocka_unit_test(siblings_that_ask_for_no_more_than_there_is_get_it),
		cmocka_unit_test(siblings_that_ask_for_more_share_it),
		cmocka_unit_test(the_part_that_is_not_spared_is_what_lies_above_protection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
