/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "meters/exact/exact_figures.h"

#define INDEX 3
/* Operations of the block, and what finish() did of its own. */
#define NR_OPERATIONS 8
#define NR_APART      4

static const struct guest_block guest = { .index = INDEX,
					  .nr_operations = NR_OPERATIONS,
					  .nr_apart = NR_APART };

/* The counts that the plug-in would leave, in which %u stands for the id of a part. */
static struct counts *counts_of(const char *const *lines, const enum job_part *parts)
{
	char path[] = "/tmp/umemcg-test-counts-XXXXXX", error[COUNTS_ERROR] = "";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");
	struct counts *counts = NULL;

	fputs("umemcg-counts 1\n", file);
	for (size_t i = 0; lines[i]; i++) {
		fprintf(file, lines[i], job_part_id(INDEX, parts[i]));
		fputc('\n', file);
	}
	fputs("end\n", file);
	fclose(file);
	if (counts_read(path, &counts, error))
		fail_msg("%s", error);
	unlink(path);
	return counts;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static struct counts *whole_block(void)
{
	static const char *const lines[] = {
		"part %u 1 1",
		"symbol %u task ffffffff81000000 8000 800 do_fault",
		"symbol %u task ffffffff81001000 1600 0 charge",
		"symbol %u deferred ffffffff81001000 160 0 charge",
		"symbol %u interrupt ffffffff81002000 80 0 tick",
		"symbol %u idle ffffffff81003000 7 0 do_idle",
		"symbol %u task 401000 48 0 work",
		"symbol %u task 402000 16 0 counting_run",
		"iteration %u 1300 8 1",
		"iteration %u 1190 8 0",
		"iteration %u 1190 8 0",
		"iteration %u 1150 8 0",
		"iteration %u 1190 8 0",
		"iteration %u 1201 8 0",
		"iteration %u 1202 8 0",
		"iteration %u 1203 8 0",
		"part %u 1 0",
		"symbol %u deferred ffffffff81004000 900 0 free_later",
		"part %u 1 0",
		"symbol %u task ffffffff81005000 4000 0 unmap",
		"part %u 1 0",
		"symbol %u deferred ffffffff81004000 60 0 free_later",
		"part %u 1 0",
		"symbol %u deferred ffffffff81006000 100 0 tick_softirq",
		NULL,
	};
	enum job_part parts[24];

	for (unsigned int i = 0; i < 24; i++)
		parts[i] = i < 16   ? JOB_PART_RUN
			   : i < 18 ? JOB_PART_DEFERRED
			   : i < 20 ? JOB_PART_APART
			   : i < 22 ? JOB_PART_APART_DEFERRED
				    : JOB_PART_QUIET;
	return counts_of(lines, parts);
}
#pragma GCC diagnostic pop

static void assert_figure(const struct exact_block *block, enum exact_figure figure, double value)
{
	assert_true(block->has[figure]);
	assert_true(block->figures[figure] > value - 1e-9 && block->figures[figure] < value + 1e-9);
}

static void the_kernel_is_counted_in_tasks_alone(void **state)
{
	struct counts *counts = whole_block();
	struct exact_block block;

	(void)state;
	assert_int_equal(exact_figures(counts, INDEX, WORKLOAD_KERNEL, &guest, &block), 0);
	assert_figure(&block, EXACT_MEAN, 9600.0 / NR_OPERATIONS);
	assert_figure(&block, EXACT_REPETITIONS, 800.0 / NR_OPERATIONS);
	assert_figure(&block, EXACT_INTERRUPTS, 80.0 / NR_OPERATIONS);
	assert_figure(&block, EXACT_APART, 4000.0 / NR_APART);
	counts_destroy(counts);
}

/* The first iteration had an interrupt in it. */
static void mode_and_minimum_are_of_clean_iterations(void **state)
{
	struct counts *counts = whole_block();
	struct exact_block block;

	(void)state;
	assert_int_equal(exact_figures(counts, INDEX, WORKLOAD_KERNEL, &guest, &block), 0);
	assert_figure(&block, EXACT_MODE, 1190);
	assert_figure(&block, EXACT_MINIMUM, 1150);
	counts_destroy(counts);
}

/* In the run itself and in the grace period behind it, less what such a period has anyway. */
static void put_off_is_what_the_block_put_off(void **state)
{
	struct counts *counts = whole_block();
	struct exact_block block;

	(void)state;
	assert_int_equal(exact_figures(counts, INDEX, WORKLOAD_KERNEL, &guest, &block), 0);
	assert_figure(&block, EXACT_PUT_OFF, (160.0 + 900 - 100) / NR_OPERATIONS);
	/* 60 against 100 in a quiet period: nothing, and not less than nothing. */
	assert_figure(&block, EXACT_APART_PUT_OFF, 0);
	counts_destroy(counts);
}

static void the_library_is_counted_without_the_meters_own(void **state)
{
	struct counts *counts = whole_block();
	struct exact_block block;

	(void)state;
	assert_int_equal(exact_figures(counts, INDEX, WORKLOAD_LIB, &guest, &block), 0);
	assert_figure(&block, EXACT_MEAN, 48.0 / NR_OPERATIONS);
	assert_figure(&block, EXACT_MODE, 8 - 16 / NR_OPERATIONS);
	assert_figure(&block, EXACT_IN_KERNEL, 9600.0 / NR_OPERATIONS);
	assert_false(block.has[EXACT_PUT_OFF]);
	assert_false(block.has[EXACT_INTERRUPTS]);
	counts_destroy(counts);
}

static void a_block_that_was_not_counted_has_no_figures(void **state)
{
	struct counts *counts = whole_block();
	const struct guest_block none = { .index = INDEX };
	struct exact_block block;

	(void)state;
	assert_int_equal(exact_figures(counts, INDEX + 1, WORKLOAD_KERNEL, &guest, &block),
			 -ENODATA);
	assert_int_equal(exact_figures(counts, INDEX, WORKLOAD_KERNEL, &none, &block), -ENODATA);
	counts_destroy(counts);
}

static void iterations_that_all_differ_have_no_mode(void **state)
{
	struct count_iteration iterations[NR_OPERATIONS] = { 0 };
	struct count_part part = { .id = 1, .nr_entered = 1, .iterations = iterations };
	struct exact_block block;

	(void)state;
	for (unsigned int i = 0; i < NR_OPERATIONS; i++)
		iterations[i].nr_kernel = 100 + i;
	part.nr_iterations = NR_OPERATIONS;
	assert_int_equal(exact_figures_of_mark(&part, WORKLOAD_KERNEL, &block), 0);
	assert_false(block.has[EXACT_MODE]);
	assert_figure(&block, EXACT_MINIMUM, 100);
	/* Two of eight are a quarter. */
	iterations[7].nr_kernel = 103;
	assert_int_equal(exact_figures_of_mark(&part, WORKLOAD_KERNEL, &block), 0);
	assert_figure(&block, EXACT_MODE, 103);
	part.nr_iterations = 3;
	assert_int_equal(exact_figures_of_mark(&part, WORKLOAD_KERNEL, &block), 0);
	assert_false(block.has[EXACT_MODE]);
}

static void a_profile_has_all_but_interrupts_and_idling(void **state)
{
	struct counts *counts = whole_block();
	struct exact_profile profile;
	struct exact_profiled parts = {
		.work = counts_part(counts, job_part_id(INDEX, JOB_PART_RUN)),
	};

	(void)state;
	assert_int_equal(exact_profile_read(&parts, &profile), 0);
	assert_int_equal(profile.nr_symbols, 3);
	assert_string_equal(profile.symbols[0].name, "work");
	assert_string_equal(profile.symbols[2].name, "charge");
	assert_int_equal(profile.symbols[2].nr_instructions, 1760);
	assert_int_equal(profile.nr_interrupts, 80);
	assert_int_equal(profile.nr_idle, 7);
	exact_profile_fini(&profile);
	counts_destroy(counts);
}

/* When it is done is chance: what two profiles differ by must not depend on it. */
static void a_profile_has_what_was_put_off_until_later(void **state)
{
	struct count_symbol work[] = {
		{ .address = 0x1000, .name = (char *)"work", .nr_instructions = { 50 } },
		{ .address = 0x3000, .name = (char *)"late", .nr_instructions = { 5, 0, 20 } },
	};
	struct count_symbol grace[] = {
		{ .address = 0x2000, .name = (char *)"later", .nr_instructions = { 9, 9, 30 } },
		{ .address = 0x3000, .name = (char *)"late", .nr_instructions = { 9, 9, 40 } },
		{ .address = 0x4000, .name = (char *)"tick", .nr_instructions = { 0, 0, 7 } },
	};
	struct count_symbol quiet[] = {
		{ .address = 0x3000, .name = (char *)"late", .nr_instructions = { 0, 0, 10 } },
		{ .address = 0x4000, .name = (char *)"tick", .nr_instructions = { 0, 0, 8 } },
	};
	const struct count_part work_part = { .symbols = work, .nr_symbols = 2 };
	const struct count_part grace_part = { .symbols = grace, .nr_symbols = 3 };
	const struct count_part quiet_part = { .symbols = quiet, .nr_symbols = 2 };
	struct exact_profile profile;

	(void)state;
	assert_int_equal(exact_profile_read(&(struct exact_profiled){ .work = &work_part,
								      .grace = &grace_part,
								      .quiet = &quiet_part },
					    &profile),
			 0);
	assert_int_equal(profile.nr_symbols, 3);
	assert_string_equal(profile.symbols[1].name, "later");
	assert_int_equal(profile.symbols[1].nr_instructions, 30);
	assert_string_equal(profile.symbols[2].name, "late");
	assert_int_equal(profile.symbols[2].nr_instructions, 5 + 20 + 40 - 10);
	assert_int_equal(profile.nr_interrupts, 0);
	exact_profile_fini(&profile);
}

static void calls_of_functions_of_one_name_add_up(void **state)
{
	struct count_symbol symbols[] = {
		{ .address = 0x1000, .name = (char *)"caller", .nr_instructions = { 5 } },
		{ .address = 0x2000, .name = (char *)"twice", .nr_instructions = { 5 } },
		{ .address = 0x3000, .name = (char *)"twice", .nr_instructions = { 5 } },
	};
	struct count_call calls[] = { { 0x1000, 0x2000, 3, 30 },
				      { 0x1000, 0x3000, 4, 40 },
				      { 0, 0x1000, 1, 100 } };
	const struct count_part part = {
		.symbols = symbols, .nr_symbols = 3, .calls = calls, .nr_calls = 3
	};
	struct exact_profile profile;

	(void)state;
	assert_int_equal(exact_profile_read(&(struct exact_profiled){ .work = &part }, &profile),
			 0);
	assert_int_equal(profile.nr_calls, 2);
	assert_string_equal(profile.calls[0].caller, "[unknown]");
	assert_string_equal(profile.calls[1].callee, "twice");
	assert_int_equal(profile.calls[1].nr_calls, 7);
	assert_int_equal(profile.calls[1].nr_instructions, 70);
	exact_profile_fini(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_is_counted_in_tasks_alone),
		cmocka_unit_test(mode_and_minimum_are_of_clean_iterations),
		cmocka_unit_test(put_off_is_what_the_block_put_off),
		cmocka_unit_test(the_library_is_counted_without_the_meters_own),
		cmocka_unit_test(a_block_that_was_not_counted_has_no_figures),
		cmocka_unit_test(iterations_that_all_differ_have_no_mode),
		cmocka_unit_test(a_profile_has_all_but_interrupts_and_idling),
		cmocka_unit_test(a_profile_has_what_was_put_off_until_later),
		cmocka_unit_test(calls_of_functions_of_one_name_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
