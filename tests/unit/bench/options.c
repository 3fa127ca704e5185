/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "options.h"

#define NR_ARGUMENTS 8

/* Parses "bench" and @arguments, and gives back what went to standard error. */
static int parse(const char *const *arguments, struct bench_options *options, char *said,
		 size_t size)
{
	/* Static, since the options keep pointing to a command inside of it. */
	static char *argv[NR_ARGUMENTS + 2];
	int argc = 1, saved = dup(STDERR_FILENO), error;
	FILE *file = tmpfile();
	size_t length;

	memset(argv, 0, sizeof(argv));
	argv[0] = (char *)"bench";
	while (arguments[argc - 1]) {
		argv[argc] = (char *)arguments[argc - 1];
		argc++;
	}
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	error = options_parse(argc, argv, options);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	length = fread(said, 1, size - 1, file);
	said[length] = '\0';
	fclose(file);
	return error;
}

static void refuse(const char *first, const char *second, const char *named)
{
	const char *const arguments[] = { first, second, NULL };
	struct bench_options options;
	char said[1024];

	assert_int_equal(parse(arguments, &options, said, sizeof(said)), -EINVAL);
	assert_non_null(strstr(said, named));
	assert_non_null(strstr(said, "accepted"));
	/* One line, and its end is the end of what was said. */
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

static void bad_input_is_named_with_what_would_be_accepted(void **state)
{
	(void)state;
	refuse("-t", "libc", "libc");
	refuse("-t", "lib,lib", "lib");
	refuse("-m", "exact", "accepted are: time");
	refuse("-w", "fork,spoon", "spoon");
	refuse("-w", "fork,,pft", "''");
	refuse("-w", "", "''");
	refuse("-c", "Unset,Sat", "Sat");
	refuse("-c", "depth-0", "depth-0");
	refuse("-c", "depth-65", "depth-65");
	refuse("-c", "depth-4x", "depth-4x");
	refuse("-c", "depth-N", "depth-N");
	refuse("--runs", "1", "1");
	refuse("--runs", "2.5", "2.5");
	refuse("--time", "soon", "soon");
	refuse("--time", "nan", "nan");
	refuse("--seed", "-1", "-1");
	refuse("--workers", "1,2,2", "1,2,2");
	refuse("--workers", "0", "0");
	refuse("--json", "/nonexistent/result.json", "/nonexistent/result.json");
	refuse("--json", "/tmp", "/tmp");
	refuse("--save", "/tmp", "/tmp");
	refuse("--", "/nonexistent/program", "/nonexistent/program");
	refuse("stray", NULL, "stray");
}

static void an_unknown_option_is_named(void **state)
{
	static const char *const lines[][5] = { { "--slow" },
						{ "--runs", "3", "--slow", "--seed=1" },
						{ "-w", "fork", "-x", "-t" },
						{ "--seed", "1", "--runs" } };
	static const char *const named[] = { "--slow", "--slow", "-x", "--runs" };
	struct bench_options options;
	char said[1024];

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(parse(lines[i], &options, said, sizeof(said)), -EINVAL);
		assert_non_null(strstr(said, named[i]));
		assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	}
}

static void accept(const char *const *arguments, struct bench_options *options)
{
	char said[1024];

	assert_int_equal(parse(arguments, options, said, sizeof(said)), 0);
	assert_string_equal(said, "");
}

static void quick_is_the_default_and_takes_less_than_a_minute(void **state)
{
	struct bench_options options;

	(void)state;
	accept((const char *const[]){ NULL }, &options);
	assert_int_equal(options.preset, PRESET_QUICK);
	assert_true(options.time_s < 60);
	assert_true(options.targets[WORKLOAD_LIB] && options.targets[WORKLOAD_KERNEL]);
	assert_int_equal(options.nr_workloads, 3);
}

static void the_control_is_part_of_every_run(void **state)
{
	struct bench_options options;

	(void)state;
	accept((const char *const[]){ "-c", "Unset,Set", NULL }, &options);
	assert_int_equal(options.nr_configurations, 3);
	assert_true(options.configurations[2].control);
	accept((const char *const[]){ "-c", "AA,Set", NULL }, &options);
	assert_int_equal(options.nr_configurations, 2);
}

static void other_names_are_kept_for_the_table(void **state)
{
	struct bench_options options;

	(void)state;
	accept((const char *const[]){ "-c", "kmemcg-slab-Set,kmemcg-stack-Unset", NULL }, &options);
	assert_string_equal(options.configurations[0].name, "kmemcg-slab-Set");
	assert_int_equal(options.configurations[0].limit, LIMIT_FAR);
	assert_non_null(strstr(options.configurations[1].command_line, "umemcg.kinds=stack,anon"));
	assert_int_equal(options.configurations[1].depth, 0);
}

static void lists_and_numbers_are_read(void **state)
{
	struct bench_options options;

	(void)state;
	accept((const char *const[]){ "--workers", "1,3,8", "--seed", "42", "--runs", "7",
				      "--target=kernel", NULL },
	       &options);
	assert_int_equal(options.nr_workers, 3);
	assert_int_equal(options.workers[2], 8);
	assert_int_equal(options.seed, 42);
	assert_int_equal(options.nr_runs, 7);
	assert_true(options.time_s == 0);
	assert_false(options.targets[WORKLOAD_LIB]);
	accept((const char *const[]){ "-c", "depth-16", "--time", "2.5", NULL }, &options);
	assert_int_equal(options.configurations[0].depth, 16);
	assert_true(options.time_s == 2.5);
}

static void a_command_keeps_its_own_options(void **state)
{
	struct bench_options options;

	(void)state;
	accept((const char *const[]){ "-t", "kernel", "--", "true", "-t", "lib", NULL }, &options);
	assert_string_equal(options.command[0], "true");
	assert_string_equal(options.command[2], "lib");
	assert_false(options.targets[WORKLOAD_LIB]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_input_is_named_with_what_would_be_accepted),
		cmocka_unit_test(an_unknown_option_is_named),
		cmocka_unit_test(quick_is_the_default_and_takes_less_than_a_minute),
		cmocka_unit_test(the_control_is_part_of_every_run),
		cmocka_unit_test(other_names_are_kept_for_the_table),
		cmocka_unit_test(lists_and_numbers_are_read),
		cmocka_unit_test(a_command_keeps_its_own_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
