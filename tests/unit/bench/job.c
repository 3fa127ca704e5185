/* SPDX-License-Identifier: MIT */
/* What driver and guest say to one another. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "meters/exact/job.h"
#include "umemcg-marks.h"

static struct guest_job *parsed(const char *text)
{
	struct guest_job *job = NULL;
	char *copy = strdup(text);

	assert_non_null(copy);
	assert_int_equal(job_parse(copy, &job), 0);
	free(copy);
	return job;
}

static int job_error(const char *lines)
{
	struct guest_job *job = NULL;
	char text[512];
	int error;

	snprintf(text, sizeof(text), "umemcg-job 1\n%s", lines);
	error = job_parse(text, &job);
	assert_null(job);
	return error;
}

static struct guest_answer *answered(const char *lines, int expected)
{
	struct guest_answer *answer = NULL;
	char text[1024];

	snprintf(text, sizeof(text), "umemcg-guest 1\n%s", lines);
	assert_int_equal(answer_parse(text, &answer), expected);
	return answer;
}

static void what_is_asked_is_read(void **state)
{
	char *environment[] = { (char *)"UMEMCG_CMDLINE=cgroup_enable=memory a=b",
				(char *)"EMPTY=", NULL };
	char *argv[] = { (char *)"/program", (char *)"", (char *)"a b\n100%\xc3\xa4", (char *)"%",
			 NULL };
	struct job_block blocks[] = {
		{ .index = 7,
		  .workload = "fork_touch",
		  .value = UINT64_MAX,
		  .nr_operations = 64,
		  .nr_warm_up = 8,
		  .layout = 15 },
		{ .index = JOB_NR_BLOCKS - 1, .nr_operations = 3, .layout = 1, .argv = argv },
	};
	const struct guest_job written = { .target = WORKLOAD_KERNEL,
					   .cgroup = JOB_CGROUP_V1,
					   .depth = 16,
					   .limit = LIMIT_NEAR,
					   .environment = environment,
					   .blocks = blocks,
					   .nr_blocks = 2 };
	char *text = job_format(&written);
	struct guest_job *job = parsed(text);

	(void)state;
	assert_false(job->symbols);
	assert_int_equal(job->target, WORKLOAD_KERNEL);
	assert_int_equal(job->cgroup, JOB_CGROUP_V1);
	assert_int_equal(job->depth, 16);
	assert_int_equal(job->limit, LIMIT_NEAR);
	assert_string_equal(job->environment[0], environment[0]);
	assert_string_equal(job->environment[1], "EMPTY=");
	assert_null(job->environment[2]);
	assert_int_equal(job->nr_blocks, 2);
	assert_int_equal(job->blocks[0].index, 7);
	assert_string_equal(job->blocks[0].workload, "fork_touch");
	assert_true(job->blocks[0].value == UINT64_MAX && job->blocks[0].nr_operations == 64);
	assert_true(job->blocks[0].nr_warm_up == 8 && job->blocks[0].layout == 15);
	assert_null(job->blocks[0].argv);
	assert_true(job->blocks[1].nr_operations == 3 && job->blocks[1].layout == 1);
	for (unsigned int i = 0; argv[i]; i++)
		assert_string_equal(job->blocks[1].argv[i], argv[i]);
	assert_null(job->blocks[1].argv[4]);
	job_destroy(job);
	free(text);
}

static void symbols_are_asked_for_alone(void **state)
{
	char *text = job_format(&(struct guest_job){ .symbols = true });
	struct guest_job *job;

	(void)state;
	assert_string_equal(text, "umemcg-job 1\nsymbols\nend\n");
	job = parsed(text);
	assert_true(job->symbols);
	assert_int_equal(job->nr_blocks, 0);
	job_destroy(job);
	free(text);
}

static void what_is_no_job_is_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"nonsense",
		"symbols all",
		"target user",
		"target",
		"cgroup v3",
		"max 5",
		"depth -1",
		"depth 4294967296",
		"depth 1 2",
		"environment NOTHING",
		"block",
		"block 4096 fork 0 1 1 0",
		"block 0 fork 0 0 1 0",
		"block 0 fork 0 1 1 16",
		"block 0 fork 0 1 1",
		"block 0 fork 0 1 1 0 0",
		"block 0  0 1 1 0",
		"block 0 fork 0 18446744073709551616 1 0",
		"block 0 fork 0 0x1 1 0",
		"block 0 a_name_that_is_longer_than_any_workloads 0 1 1 0",
		"program 0 1 0",
		"program 0 0 0 a",
		"program 0 1 0 a%",
		"program 0 1 0 a%4",
		"program 0 1 0 a%00b",
		"program 0 1 0 a%zz",
	};
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(text, sizeof(text), "%s\nend\n", lines[i]);
		assert_int_equal(job_error(text), -EPROTO);
	}
	assert_int_equal(job_error(""), -ENODATA);
	assert_int_equal(job_error("symbols\n"), -ENODATA);
	assert_int_equal(job_error("symbols\nend"), -ENODATA);
	strcpy(text, "umemcg-job 2\nend\n");
	assert_int_equal(job_parse(text, &(struct guest_job *){ NULL }), -EPROTO);
	text[0] = '\0';
	assert_int_equal(job_parse(text, &(struct guest_job *){ NULL }), -ENODATA);
}

static void an_answer_is_read(void **state)
{
	struct guest_answer *answer = answered("kernel 6.1.0 x\nmemcg compiled\n"
					       "quiet 5\nblock 5 8192 9216\n"
					       "failed 6 mmap: Cannot allocate memory\n"
					       "symbol ffffffff81000000 _stext\nsymbol 0 zero\n"
					       "error no more\nend\nwhat follows is not read",
					       0);

	(void)state;
	assert_string_equal(answer->kernel, "6.1.0 x");
	assert_true(answer->memcg_compiled);
	assert_int_equal(answer->nr_blocks, 2);
	assert_true(answer->blocks[0].index == 5 && answer->blocks[0].over);
	assert_true(answer->blocks[0].quiet && !answer->blocks[0].failed[0]);
	assert_true(answer->blocks[0].nr_operations == 8192 && answer->blocks[0].nr_apart == 9216);
	assert_true(answer->blocks[1].index == 6 && !answer->blocks[1].quiet);
	assert_string_equal(answer->blocks[1].failed, "mmap: Cannot allocate memory");
	assert_int_equal(answer->nr_symbols, 2);
	assert_true(answer->symbols[0].address == 0xffffffff81000000u);
	assert_string_equal(answer->symbols[1].name, "zero");
	assert_string_equal(answer->error, "no more");
	answer_destroy(answer);
}

static void a_guest_that_died_leaves_what_it_said(void **state)
{
	struct guest_answer *answer =
		answered("memcg absent\nquiet 0\nblock 0 1 0\nquiet 1\nblock 1 12", -ENODATA);

	(void)state;
	assert_false(answer->memcg_compiled);
	assert_int_equal(answer->nr_blocks, 2);
	assert_true(answer->blocks[0].over && answer->blocks[1].quiet);
	assert_false(answer->blocks[1].over);
	answer_destroy(answer);
	answer_destroy(answered("", -ENODATA));
}

static void what_is_no_answer_is_refused(void **state)
{
	static const char *const lines[] = { "nonsense",       "block 0",
					     "block 4096 1 0", "block 0 1 0 0",
					     "block 0 -1 0",   "failed 0 ",
					     "failed x y",     "quiet",
					     "quiet 1 2",      "memcg perhaps",
					     "symbol 12",      "symbol xyz name",
					     "symbol 12 a b",  "block 0 1 0\nblock 0 1 0" };
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(text, sizeof(text), "%s\nend\n", lines[i]);
		assert_null(answered(text, -EPROTO));
	}
	strcpy(text, "Kernel panic\n");
	assert_int_equal(answer_parse(text, &(struct guest_answer *){ NULL }), -EPROTO);
}

static void parts_have_ids_between_a_programs_and_iterations(void **state)
{
	(void)state;
	assert_int_equal(job_part_id(0, JOB_PART_RUN), UMEMCG_MARK_MAX + 1);
	assert_int_equal(job_part_id(1, JOB_PART_RUN), job_part_id(0, JOB_PART_QUIET) + 1);
	assert_true(job_part_id(JOB_NR_BLOCKS - 1, JOB_PART_QUIET) < UMEMCG_MARK_ITERATION_ID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_asked_is_read),
		cmocka_unit_test(symbols_are_asked_for_alone),
		cmocka_unit_test(what_is_no_job_is_refused),
		cmocka_unit_test(an_answer_is_read),
		cmocka_unit_test(a_guest_that_died_leaves_what_it_said),
		cmocka_unit_test(what_is_no_answer_is_refused),
		cmocka_unit_test(parts_have_ids_between_a_programs_and_iterations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
