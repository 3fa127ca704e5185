/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reclaim/delay.h"

#define MB 1000000ull

static uint64_t at(uint64_t usage, uint64_t high, uint64_t nr_bytes)
{
	return delay_us(delay_overage(usage - high, high), nr_bytes);
}

/* Milliseconds at so many MB, for a high of 100 MB and a whole batch; these are the kernel's. */
static void the_curve_is_the_kernels(void **state)
{
	static const struct {
		uint64_t nr_mb, ms;
	} points[] = {
		{ 100, 0 },    { 101, 6 },    { 102, 25 },   { 103, 57 },   { 104, 102 },
		{ 105, 159 },  { 106, 230 },  { 107, 313 },  { 108, 409 },  { 109, 518 },
		{ 110, 639 },  { 111, 774 },  { 112, 921 },  { 113, 1081 }, { 114, 1254 },
		{ 115, 1439 }, { 116, 1638 }, { 117, 1849 }, { 118, 2000 }, { 119, 2000 },
		{ 150, 2000 }, { 200, 2000 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(points) / sizeof(*points); i++)
		assert_int_equal(at(points[i].nr_mb * MB, 100 * MB, DELAY_BATCH_BYTES) / 1000,
				 points[i].ms);
}

static void less_charged_is_a_shorter_delay(void **state)
{
	uint64_t overage = delay_overage(5 * MB, 100 * MB);
	uint64_t whole = delay_us(overage, DELAY_BATCH_BYTES);

	(void)state;
	assert_int_equal(delay_us(overage, 0), 0);
	assert_int_equal(delay_us(overage, DELAY_BATCH_BYTES / 2), whole / 2);
	assert_int_equal(delay_us(overage, 4 * DELAY_BATCH_BYTES) / 4, whole);
	assert_int_equal(delay_us(overage, DELAY_BATCH_BYTES / 64), whole / 64);
}

static void no_delay_is_longer_than_two_seconds(void **state)
{
	static const uint64_t amounts[] = { 1, 4096, MB, 1ull << 40, 1ull << 62, UINT64_MAX };
	static const uint64_t highs[] = { 0, 1, 4096, 100 * MB, 1ull << 40, 1ull << 61 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(highs) / sizeof(*highs); i++)
		for (unsigned int k = 0; k < sizeof(amounts) / sizeof(*amounts); k++) {
			uint64_t overage = delay_overage(amounts[k], highs[i]);

			for (unsigned int n = 0; n < sizeof(amounts) / sizeof(*amounts); n++)
				assert_in_range(delay_us(overage, amounts[n]), 0, DELAY_MAX_US);
		}
	assert_int_equal(delay_us(delay_overage(1ull << 62, 1), 1), DELAY_MAX_US);
	assert_int_equal(delay_us(UINT64_MAX, UINT64_MAX), DELAY_MAX_US);
	assert_int_equal(delay_us(1 << 10, UINT64_MAX), DELAY_MAX_US);
}

static void a_high_of_any_size_has_the_same_curve(void **state)
{
	(void)state;
	for (uint64_t high = 100ull << 10; high <= 100ull << 50; high <<= 5)
		assert_in_range(at(high + high / 20, high, DELAY_BATCH_BYTES), 159000, 160000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_curve_is_the_kernels),
		cmocka_unit_test(less_charged_is_a_shorter_delay),
		cmocka_unit_test(no_delay_is_longer_than_two_seconds),
		cmocka_unit_test(a_high_of_any_size_has_the_same_curve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
