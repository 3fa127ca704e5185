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
	refuse("-t", "lib,lib", "lib: it, or part of it, is there twice");
	refuse("-m", "exactly", "accepted are: time, exact");
	refuse("-m", "time,exact", "time,exact");
	refuse("-w", "fork,spoon", "spoon");
	refuse("-w", "fork,,pft", "''");
	refuse("-w", "", "''");
	refuse("-c", "Unset,Sat", "Sat");
	refuse("-c", "depth-0", "depth-0");
	refuse("-c", "depth-65", "depth-65");
	refuse("-c", "depth-4x", "depth-4x");
	refuse("-c", "depth-N", "depth-N");
	refuse("-c", "all,depth-4", "depth-4: it, or part of it, is there twice");
	refuse("-c", "depth-4,all", "all: it, or part of it, is there twice");
	refuse("-w", "all,fork", "fork: it, or part of it, is there twice");
	refuse("--runs", "1", "1");
	refuse("--runs", "2.5", "2.5");
	refuse("--time", "soon", "soon");
	refuse("--time", "nan", "nan");
	refuse("--seed", "-1", "-1");
	refuse("--workers", "1,2,2", "2: it, or part of it, is there twice");
	refuse("--workers",
	       "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,"
	       "32,33",
	       "33: it is one too many; at most 32");
	refuse("--workers", "0", "0");
	refuse("--json", "/nonexistent/result.json", "/nonexistent/result.json");
	refuse("--json", "/tmp", "/tmp");
	refuse("--save", "/tmp", "/tmp");
	refuse("--html", "/tmp", "/tmp");
	refuse("--kernel", "=x", "=x");
	refuse("--kernel", "name=", "name=");
	refuse("--layouts", "0", "0");
	refuse("--layouts", "17", "17");
	refuse("--cgroup", "v3", "v3");
	refuse("--cgroup", "v1,v1", "v1,v1");
	refuse("--get-kernel=-rf", NULL, "-rf");
	refuse("--yes", NULL, "--get-kernel");
	refuse("--", "/nonexistent/program", "/nonexistent/program");
	refuse("stray", NULL, "stray");
}

static void refuse_exact(const char *first, const char *second, const char *named)
{
	const char *const arguments[] = { "-m", "exact", first, second, NULL };
	struct bench_options options;
	char said[1024];

	assert_int_equal(parse(arguments, &options, said, sizeof(said)), -EINVAL);
	assert_non_null(strstr(said, named));
	assert_non_null(strstr(said, "accepted"));
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

static void options_of_the_other_meter_are_refused(void **state)
{
	(void)state;
	refuse("--kernel", "/boot/vmlinuz", "-m exact");
	refuse("--debug-info", "vmlinux", "-m exact");
	refuse("--layouts", "3", "-m exact");
	refuse("--cgroup", "v1", "-m exact");
	refuse("--explain", "pft", "-m exact");
	refuse_exact("--runs", "3", "-m time");
	refuse_exact("--time", "3", "-m time");
}

static void what_cannot_be_explained_is_refused(void **state)
{
	(void)state;
	refuse_exact("--explain", "spoon", "spoon");
	refuse_exact("--explain", "pft,spoon", "pft,spoon");
	refuse_exact("--explain", "all", "all");
	refuse_exact("--explain=pft", "--workload=fork", "-w");
	refuse_exact("--explain=pft", "--config=Set", "-c");
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

static void the_exact_meter_has_presets_of_its_own(void **state)
{
	static const char *const names[] = { "disabled", "root", "slab-Unset", "slab-Set" };
	struct bench_options options;

	(void)state;
	accept((const char *const[]){ "-m", "exact", NULL }, &options);
	assert_int_equal(options.meter, METER_EXACT);
	assert_int_equal(options.nr_configurations, 4);
	for (unsigned int i = 0; i < 4; i++)
		assert_string_equal(options.configurations[i].name, names[i]);
	assert_string_equal(options.configurations[0].switches, "cgroup_disable=memory");
	assert_int_equal(options.nr_workloads, 4);
	assert_int_equal(options.exact.nr_layouts, 5);
	assert_true(options.exact.cgroup_v2);
	assert_false(options.exact.cgroup_v1);
	accept((const char *const[]){ "--full", "-m", "exact", "--cgroup=v1,v2", NULL }, &options);
	assert_true(options.exact.cgroup_v1 && options.exact.cgroup_v2);
	assert_true(options.nr_configurations > 12);
}

static void explaining_chooses_workload_and_configurations(void **state)
{
	struct bench_options options;

	(void)state;
	accept((const char *const[]){ "-m", "exact", "--explain", "fork,child", NULL }, &options);
	assert_true(options.exact.explain);
	assert_int_equal(options.nr_workloads, 1);
	assert_string_equal(options.workloads[0]->name, "fork");
	assert_int_equal(options.nr_configurations, 3);
	assert_string_equal(options.configurations[2].name, "child");
	assert_false(options.targets[WORKLOAD_LIB]);
}

static void kernels_are_kept_in_the_order_given(void **state)
{
	struct bench_options options;

	(void)state;
	accept((const char *const[]){ "-m", "exact", "--kernel", "new=/b", "--kernel", "/a", NULL },
	       &options);
	assert_int_equal(options.exact.nr_kernels, 2);
	assert_string_equal(options.exact.kernels[0], "new=/b");
	assert_string_equal(options.exact.kernels[1], "/a");
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
		cmocka_unit_test(options_of_the_other_meter_are_refused),
		cmocka_unit_test(what_cannot_be_explained_is_refused),
		cmocka_unit_test(an_unknown_option_is_named),
		cmocka_unit_test(quick_is_the_default_and_takes_less_than_a_minute),
		cmocka_unit_test(the_control_is_part_of_every_run),
		cmocka_unit_test(the_exact_meter_has_presets_of_its_own),
		cmocka_unit_test(explaining_chooses_workload_and_configurations),
		cmocka_unit_test(kernels_are_kept_in_the_order_given),
		cmocka_unit_test(other_names_are_kept_for_the_table),
		cmocka_unit_test(lists_and_numbers_are_read),
		cmocka_unit_test(a_command_keeps_its_own_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
