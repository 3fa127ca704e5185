/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "meters/exact/counts.h"

#define GREETING "umemcg-counts 1\n"
#define KERNEL   "ffffffff81000000"

/* Reads a file of that text. */
static int read_text(const char *text, struct counts **ret_counts, char *error)
{
	char path[] = "/tmp/umemcg-counts-XXXXXX";
	int fd = mkstemp(path), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	error[0] = '\0';
	ret = counts_read(path, ret_counts, error);
	unlink(path);
	return ret;
}

static struct counts *accept(const char *text)
{
	struct counts *counts = NULL;
	char error[COUNTS_ERROR];

	assert_int_equal(read_text(text, &counts, error), 0);
	assert_string_equal(error, "");
	assert_non_null(counts);
	return counts;
}

/* @named: what the error's only line says. */
static void refuse(const char *text, int expected, const char *named)
{
	struct counts *counts = NULL;
	char error[COUNTS_ERROR];

	assert_int_equal(read_text(text, &counts, error), expected);
	assert_null(counts);
	assert_non_null(strstr(error, named));
	assert_null(strchr(error, '\n'));
}

static void what_the_plug_in_wrote_is_read(void **state)
{
	struct counts *counts = accept(GREETING "part 7 2 3\n"
						"symbol 7 task " KERNEL " 100 40 clear_page\n"
						"symbol 7 interrupt " KERNEL " 5 0 clear_page\n"
						"iteration 7 90 10 0\n"
						"iteration 7 91 11 1\n"
						"call 7 0 " KERNEL " 2 105\n"
						"end\n");
	const struct count_part *part = counts_part(counts, 7);

	(void)state;
	assert_int_equal(counts->nr_parts, 1);
	assert_non_null(part);
	assert_int_equal(part->nr_entered, 2);
	assert_int_equal(part->nr_interrupts, 3);
	assert_int_equal(part->nr_symbols, 1);
	assert_string_equal(part->symbols[0].name, "clear_page");
	assert_true(part->symbols[0].address == 0xffffffff81000000);
	assert_false(part->symbols[0].user);
	assert_int_equal(part->symbols[0].nr_instructions[COUNT_TASK], 100);
	assert_int_equal(part->symbols[0].nr_repetitions[COUNT_TASK], 40);
	assert_int_equal(part->symbols[0].nr_instructions[COUNT_INTERRUPT], 5);
	assert_int_equal(part->symbols[0].nr_instructions[COUNT_DEFERRED], 0);
	assert_int_equal(part->nr_iterations, 2);
	assert_int_equal(part->iterations[1].nr_kernel, 91);
	assert_int_equal(part->iterations[1].nr_user, 11);
	assert_int_equal(part->iterations[1].nr_interrupts, 1);
	assert_int_equal(part->nr_calls, 1);
	assert_int_equal(part->calls[0].caller, 0);
	assert_true(part->calls[0].callee == 0xffffffff81000000);
	assert_int_equal(part->calls[0].nr_calls, 2);
	assert_int_equal(part->calls[0].nr_instructions, 105);
	counts_destroy(counts);
}

static void parts_and_symbols_are_sorted_whatever_the_order_of_lines(void **state)
{
	struct counts *counts = accept(GREETING "part 300 1 0\n"
						"symbol 300 task " KERNEL " 1 0 last\n"
						"symbol 300 task 401000 2 0 main\n"
						"symbol 300 idle " KERNEL " 3 0 last\n"
						"symbol 300 task 0 4 0 [unknown]\n"
						"symbol 300 task 0 5 0 [user]\n"
						"part 2 1 0\n"
						"part 65534 1 0\n"
						"end\n");
	const struct count_part *part = counts_part(counts, 300);

	(void)state;
	assert_int_equal(counts->nr_parts, 3);
	assert_int_equal(counts->parts[0].id, 2);
	assert_int_equal(counts->parts[2].id, 65534);
	assert_null(counts_part(counts, 1));
	assert_int_equal(counts_part(counts, 2)->nr_symbols, 0);
	assert_int_equal(part->nr_symbols, 4);
	assert_string_equal(part->symbols[0].name, "[user]");
	assert_string_equal(part->symbols[1].name, "[unknown]");
	assert_string_equal(part->symbols[2].name, "main");
	assert_true(part->symbols[0].user && part->symbols[2].user);
	assert_false(part->symbols[1].user || part->symbols[3].user);
	assert_int_equal(part->symbols[3].nr_instructions[COUNT_IDLE], 3);
	assert_int_equal(count_part_sum(part, COUNT_TASK, true), 7);
	assert_int_equal(count_part_sum(part, COUNT_TASK, false), 5);
	assert_int_equal(count_part_sum(part, COUNT_IDLE, false), 3);
	counts_destroy(counts);
}

static void a_guest_that_was_cut_short_is_told_from_one_that_was_not(void **state)
{
	(void)state;
	refuse("", -ENODATA, "cut short");
	refuse(GREETING, -ENODATA, "cut short");
	refuse(GREETING "part 1 1 0\nsymbol 1 task 0 5 0 [us", -ENODATA, "cut short");
	refuse(GREETING "part 1 1 0\nend", -ENODATA, "cut short");
	counts_destroy(accept(GREETING "end\n"));
}

static void a_line_of_another_form_is_named(void **state)
{
	static const char *const lines[] = {
		"",
		"part 0 1 0",
		"part 65535 1 0",
		"part 1 1",
		"part 1 1 0 0",
		"part -1 1 0",
		"symbol 2 task 0 5 0 [user]", /* not of the part before */
		"symbol 1 nobody 0 5 0 [user]",
		"symbol 1 task 0x0 5 0 [user]",
		"symbol 1 task 0 5 6 [user]", /* more repetitions than instructions */
		"symbol 1 task 0 5 0",
		"symbol 1 task 0 5 0 a b",
		"symbol 1 task 0 99999999999999999999 0 [user]",
		"iteration 1 5 5",
		"iteration 1 5 5 0 0",
		"call 1 0 0 1",
		"ends",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text), GREETING "part 1 1 0\n%s\nend\n", lines[i]);
		refuse(text, -EPROTO, "line 3 ");
	}
	refuse("umemcg-counts 2\nend\n", -EPROTO, "line 1 ");
	refuse(GREETING "symbol 1 task 0 5 0 [user]\nend\n", -EPROTO, "line 2 ");
}

static void what_is_there_twice_is_not_added_up(void **state)
{
	(void)state;
	refuse(GREETING "part 1 1 0\npart 2 1 0\npart 1 1 0\nend\n", -EPROTO, "part 1");
	refuse(GREETING "part 1 1 0\n"
			"symbol 1 task " KERNEL " 1 0 f\nsymbol 1 task " KERNEL " 1 0 f\nend\n",
	       -EPROTO, "part 1");
	refuse(GREETING "part 1 1 0\n"
			"symbol 1 task " KERNEL " 1 0 f\nsymbol 1 idle " KERNEL " 1 0 g\nend\n",
	       -EPROTO, "part 1");
}

static void a_file_that_cannot_be_read_is_named(void **state)
{
	struct counts *counts = NULL;
	char error[COUNTS_ERROR];

	(void)state;
	assert_int_equal(counts_read("/nonexistent/counts", &counts, error), -ENOENT);
	assert_non_null(strstr(error, "/nonexistent/counts"));
	assert_int_equal(counts_read("/", &counts, error), -EISDIR);
	assert_null(counts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_plug_in_wrote_is_read),
		cmocka_unit_test(parts_and_symbols_are_sorted_whatever_the_order_of_lines),
		cmocka_unit_test(a_guest_that_was_cut_short_is_told_from_one_that_was_not),
		cmocka_unit_test(a_line_of_another_form_is_named),
		cmocka_unit_test(what_is_there_twice_is_not_added_up),
		cmocka_unit_test(a_file_that_cannot_be_read_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
