/* SPDX-License-Identifier: MIT */
/* The one converter of sizes: what it takes, what it refuses and with which error, and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "base/size.h"

#define UNTOUCHED 0x5ca1ab1e

static void check_accepted(const char *text, uint64_t nr_bytes)
{
	uint64_t parsed = UNTOUCHED;
	int r = size_parse(text, &parsed);

	if (r || parsed != nr_bytes)
		fail_msg("\"%s\": returned %d and %lu, expected 0 and %lu", text, r, parsed,
			 nr_bytes);
}

static void check_refused(const char *text, int error)
{
	uint64_t parsed = UNTOUCHED;
	int r = size_parse(text, &parsed);

	if (r != error)
		fail_msg("\"%s\": returned %d, expected %d", text, r, error);
	if (parsed != UNTOUCHED)
		fail_msg("\"%s\": refused, and yet the result was changed", text);
}

static void plain_numbers_are_bytes(void **state)
{
	(void)state;
	check_accepted("0", 0);
	check_accepted("1", 1);
	check_accepted("007", 7);
	check_accepted("4096", 4096);
	check_accepted("18446744073709551614", UINT64_MAX - 1);
	check_accepted("18446744073709551615", UINT64_MAX);
}

static void one_suffix_in_either_case_is_a_power_of_1024(void **state)
{
	static const char suffixes[] = "KMGTPEkmgtpe";

	(void)state;
	for (unsigned int i = 0; suffixes[i]; i++) {
		char text[] = { '3', suffixes[i], '\0' };

		check_accepted(text, (uint64_t)3 << 10 * (i % 6 + 1));
	}
	check_accepted("0E", 0);
	check_accepted("15E", (uint64_t)15 << 60);
	check_accepted("16777215T", (uint64_t)16777215 << 40);
}

static void max_means_no_limit(void **state)
{
	(void)state;
	check_accepted("max", UINT64_MAX);
	check_accepted(" max\n", UINT64_MAX);
}

static void white_space_around_is_ignored(void **state)
{
	(void)state;
	check_accepted("64M\n", (uint64_t)64 << 20);
	check_accepted(" \t\n\v\f\r64M \t\n\v\f\r", (uint64_t)64 << 20);
}

static void everything_else_is_einval(void **state)
{
	static const char *const texts[] = {
		"",      " ",      "\n",     "64MB",     "64MiB",
		"1.5G",  "-1",     "+1",     "-0",       "0x10",
		"64 M",  "6 4",    "M",      "k",        "MAX",
		"Max",   "maxx",   "ma",     "max1",     "max max",
		"1max",  "64KK",   "64KM",   "1e3",      "1,000",
		"1_0",   "64B",    "64Z",    "64Y",      "64%",
		"\0018", "8\001",  "٣",      "１",       "64M;",
		"64M x", "64\xa0", "\24064", "infinity", "99999999999999999999999x",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		check_refused(texts[i], -EINVAL);
}

static void what_does_not_fit_in_64_bits_is_erange(void **state)
{
	static const char *const texts[] = {
		"18446744073709551616",
		"18446744073709551617",
		"18446744073709551620",
		"36893488147419103232",
		"184467440737095516150",
		"99999999999999999999999999999",
		"16E",
		"16384P",
		"16777216T",
		"17179869184G",
		"17592186044416M",
		"18014398509481984K",
		"18446744073709551615K",
		" 18446744073709551616 ",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		check_refused(texts[i], -ERANGE);
}

static void what_is_printed_is_read_again_exactly(void **state)
{
	(void)state;
	for (unsigned int shift = 0; shift < 64; shift++) {
		for (int offset = -1; offset <= 1; offset++) {
			uint64_t nr_bytes = ((uint64_t)1 << shift) + (uint64_t)offset;
			char text[SIZE_TEXT_BYTES];
			size_t length = size_print(nr_bytes, text);

			assert_int_equal(length, strlen(text));
			check_accepted(text, nr_bytes);
		}
	}
}

static void sizes_are_printed_in_bytes(void **state)
{
	char text[SIZE_TEXT_BYTES];

	(void)state;
	size_print(0, text);
	assert_string_equal(text, "0");
	size_print((uint64_t)64 << 20, text);
	assert_string_equal(text, "67108864");
	size_print(UINT64_MAX - 1, text);
	assert_string_equal(text, "18446744073709551614");
	size_print(UINT64_MAX, text);
	assert_string_equal(text, "max");
	size_print_decimal(UINT64_MAX, text);
	assert_string_equal(text, "18446744073709551615");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_numbers_are_bytes),
		cmocka_unit_test(one_suffix_in_either_case_is_a_power_of_1024),
		cmocka_unit_test(max_means_no_limit),
		cmocka_unit_test(white_space_around_is_ignored),
		cmocka_unit_test(everything_else_is_einval),
		cmocka_unit_test(what_does_not_fit_in_64_bits_is_erange),
		cmocka_unit_test(what_is_printed_is_read_again_exactly),
		cmocka_unit_test(sizes_are_printed_in_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
