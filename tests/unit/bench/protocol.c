/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_test.h"
#include "protocol.h"

static int parse(const char *text, struct protocol_block *ret_block)
{
	char copy[PROTOCOL_SIZE];

	strcpy(copy, text);
	return protocol_parse(copy, ret_block);
}

static void what_is_written_is_read(void **state)
{
	const struct protocol_block written = {
		.nr_operations = UINT64_MAX,
		.has_metric = { true, false, true },
		.metrics = { 0.1, 0, 1509075.7561 },
		.has_times = true,
		.user_s = 0.25,
		.system_s = 0.5,
		.elapsed_s = 1.125,
		.nr_bytes_peak = 4096,
	};
	struct protocol_block read;
	char text[PROTOCOL_SIZE];
	size_t length = protocol_format(&written, text);

	(void)state;
	assert_int_equal(length, strlen(text));
	assert_in_range(strlen(text), 1, PIPE_BUF);
	assert_int_equal(protocol_parse(text, &read), 0);
	assert_int_equal(read.nr_operations, UINT64_MAX);
	assert_true(read.has_metric[0] && !read.has_metric[1] && read.has_metric[2]);
	assert_true(read.metrics[0] == 0.1 && read.metrics[2] == 1509075.7561);
	assert_true(read.has_times && read.user_s == 0.25 && read.elapsed_s == 1.125);
	assert_int_equal(read.nr_bytes_peak, 4096);
	assert_string_equal(read.error, "");
}

static void an_error_arrives_as_it_was_said(void **state)
{
	struct protocol_block written = { .error = "counted 100 faults, the system says 50" }, read;
	char text[PROTOCOL_SIZE];

	(void)state;
	protocol_format(&written, text);
	assert_int_equal(protocol_parse(text, &read), 0);
	assert_string_equal(read.error, written.error);
}

static void a_worker_that_died_is_noticed(void **state)
{
	struct protocol_block block = { .nr_operations = 5 };

	(void)state;
	assert_int_equal(parse("", &block), -ENODATA);
	assert_int_equal(parse("umemcg-block 1\noperations 3\n", &block), -ENODATA);
	assert_int_equal(block.nr_operations, 5);
}

static void what_is_no_report_is_refused(void **state)
{
	static const char *const lines[] = { "operations x", "metric 3 1", "metric 0 nan",
					     "metric 0 -1",  "times 1 2",  "times 1 2 inf",
					     "times -1 0 1", "nonsense",   "errors" };
	struct protocol_block block;
	char text[PROTOCOL_SIZE];

	(void)state;
	assert_int_equal(parse("umemcg-block 2\nend\n", &block), -EPROTO);
	assert_int_equal(parse("Segmentation fault\nend\n", &block), -EPROTO);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(text, sizeof(text), "umemcg-block 1\n%s\nend\n", lines[i]);
		assert_int_equal(parse(text, &block), -EPROTO);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(an_error_arrives_as_it_was_said),
		cmocka_unit_test(a_worker_that_died_is_noticed),
		cmocka_unit_test(what_is_no_report_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
