/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verb as a user meets it: arguments, standard output, one line on standard error, exit status.
 */
#include "compare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made.h"

#define MAX_ARGUMENTS 8

static char directory[] = "/tmp/umemcg-test-compare-XXXXXX";

static const double ten[] = { 10, 10.01, 9.99, 10.02, 9.98, 10, 10.01, 9.99 };
static const double eleven[] = { 11, 11.02, 10.98, 11.01, 10.99, 11, 11.01, 10.99 };

static void write_result(const char *name, const char *unit)
{
	struct bench_result *result = made_result("6.1.0");
	struct report_error error;

	made_series(result, "fork", "Unset", "time", unit, ten, 8);
	made_series(result, "fork", "Set", "time", unit, eleven, 8);
	made_series(result, "fork", "AA", "time", unit, ten, 8);
	assert_int_equal(result_write(result, name, &error), 0);
	result_destroy(result);
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory) || chdir(directory))
		return -1;
	write_result("a.json", "us");
	write_result("b.json", "us");
	write_result("other-unit.json", "ns");
	write_text("foreign.json", "{\"users\": []}");
	write_text("newer.json", "{\"umemcg_result\": 2}");
	write_text("truncated.json", "{\"umemcg_result\": 1, \"environment\": {\"ker");
	return 0;
}

static int remove_directory(void **state)
{
	static const char *const names[] = { "a.json",       "b.json",     "other-unit.json",
					     "foreign.json", "newer.json", "truncated.json" };

	(void)state;
	for (size_t i = 0; i < NR(names); i++)
		unlink(names[i]);
	return chdir("/") || rmdir(directory);
}

struct outcome {
	char *out;
	char *error;
	int status;
};

static char *read_back(FILE *file)
{
	long nr_bytes = ftell(file);
	char *text;

	fseek(file, 0, SEEK_END);
	nr_bytes = ftell(file);
	rewind(file);
	text = calloc((size_t)nr_bytes + 1, 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)nr_bytes, file), nr_bytes);
	fclose(file);
	return text;
}

/* Runs the verb in a child; arguments are separated by single spaces. */
static struct outcome run(const char *arguments)
{
	FILE *out = tmpfile(), *error = tmpfile();
	struct outcome outcome;
	pid_t child;

	assert_non_null(out);
	assert_non_null(error);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		char verb[] = "compare", *argv[MAX_ARGUMENTS + 2] = { verb }, *rest;
		int argc = 1;

		rest = strdup(arguments);
		while (rest && *rest && argc <= MAX_ARGUMENTS)
			argv[argc++] = strsep(&rest, " ");
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(error), STDERR_FILENO);
		exit(compare_main(argc, argv));
	}
	assert_int_equal(waitpid(child, &outcome.status, 0), child);
	assert_true(WIFEXITED(outcome.status));
	outcome.status = WEXITSTATUS(outcome.status);
	outcome.out = read_back(out);
	outcome.error = read_back(error);
	return outcome;
}

static void outcome_fini(struct outcome *outcome)
{
	free(outcome->out);
	free(outcome->error);
}

static void prints(const char *arguments, const char *expected)
{
	struct outcome outcome = run(arguments);

	if (outcome.status || *outcome.error || !strstr(outcome.out, expected))
		fail_msg("%s: status %d, %s\n%s\nhas no\n%s", arguments, outcome.status,
			 outcome.error, outcome.out, expected);
	outcome_fini(&outcome);
}

/* Exit status 2, nothing printed, one line that names the input and what is accepted. */
static void refuses(const char *arguments, const char *complaint)
{
	struct outcome outcome = run(arguments);
	const char *newline = strchr(outcome.error, '\n');

	if (outcome.status != 2 || *outcome.out || !strstr(outcome.error, complaint) ||
	    strncmp(outcome.error, "umemcg compare: ", 16) || !newline || newline[1])
		fail_msg("%s: status %d, %s\n%s", arguments, outcome.status, outcome.error,
			 outcome.out);
	outcome_fini(&outcome);
}

static void every_format_is_printed(void **state)
{
	(void)state;
	prints("a.json", "Set  : 11.00 +- 0.04% [ + 10.00 % ] costs ");
	prints("--format perf a.json", "+ is\nslower");
	prints("-f mmtests a.json", "Amean    time (us)      10.0000 (  0.00%)");
	prints("--format=markdown a.json", "| Set | 11.00 +- 0.04 % | +10.00 % |");
	prints("--format lkp a.json", "     10.00           +10.0%      11.00            +0.0%");
	prints("--format html a.json", "<dt>costs</dt><dd><b>1</b>");
	prints("--format csv a.json", "measured,a,fork,lib,time,time,,us,lower,Set,8,11,");
	prints("--format json a.json", "\"comparisons\": [");
	prints("--json a.json", "\"verdict\": \"costs\"");
	prints("a.json b.json", "\n       a                             b\n");
}

static void options_change_what_is_said(void **state)
{
	struct outcome outcome = run("--plain a.json");

	(void)state;
	assert_int_equal(outcome.status, 0);
	assert_null(strstr(outcome.out, "costs"));
	outcome_fini(&outcome);
	prints("--effect 15 a.json", "[ + 10.00 % ] equal ");
	prints("--adjust holm a.json", "as adjusted by Holm's method");
	prints("--base Set a.json", "Set  : 11.00 +- 0.04% [ + 0.00 % ]\nUnset");
	prints("--across a.json b.json", "b Set    +0.00% equal ");
}

static void help_has_examples_and_goes_to_standard_output(void **state)
{
	(void)state;
	prints("--help", "\nExamples:\n  umemcg compare result.json\n");
	prints("-h", "Usage: umemcg compare [OPTION...] RESULT...");
}

static void wrong_arguments_are_refused(void **state)
{
	(void)state;
	refuses("", "no result given; accepted are");
	refuses("--format pdf a.json", "--format pdf: accepted are perf, mmtests, lkp, ");
	refuses("--format LKP a.json", "--format LKP: accepted are");
	refuses("--json -f csv a.json", "--format csv: accepted is one format");
	refuses("--frobnicate a.json", "--frobnicate");
	refuses("a.json --format", "--format");
	refuses("--effect x a.json", "--effect x: accepted is a percentage");
	refuses("--effect nan a.json", "--effect nan: accepted is a percentage");
	refuses("--effect -1 a.json", "--effect -1: accepted is a percentage");
	refuses("--adjust bonferroni a.json", "--adjust bonferroni: accepted is holm");
	refuses("--base child a.json", "base child: not measured; accepted are Unset Set");
	refuses("--base AA a.json", "--base AA: accepted is");
	refuses("--across a.json", "--across a.json: accepted are at least two results");
}

static void unfit_files_are_refused(void **state)
{
	(void)state;
	refuses("missing.json", "missing.json: No such file or directory; accepted is");
	refuses(".", ".: Is a directory; accepted is");
	refuses("foreign.json", "foreign.json: not a result file");
	refuses("newer.json", "newer.json: version 2 is newer than this program; accepted are");
	refuses("truncated.json", "truncated.json: ends too early; accepted is");
	refuses("a.json missing.json", "missing.json: No such file");
	refuses("a.json other-unit.json", "other-unit: time of fork (lib) is in ns");
}

static void a_full_disk_is_an_error(void **state)
{
	int full = open("/dev/full", O_WRONLY);
	pid_t child;
	int status;

	(void)state;
	if (full < 0) {
		print_message("SKIP: there is no /dev/full\n");
		skip();
	}
	fflush(NULL);
	child = fork();
	if (child == 0) {
		char verb[] = "compare", name[] = "a.json", *argv[] = { verb, name, NULL };

		dup2(full, STDOUT_FILENO);
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		exit(compare_main(2, argv));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	close(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format_is_printed),
		cmocka_unit_test(options_change_what_is_said),
		cmocka_unit_test(help_has_examples_and_goes_to_standard_output),
		cmocka_unit_test(wrong_arguments_are_refused),
		cmocka_unit_test(unfit_files_are_refused),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
