/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result in memory and its file, as written, read back, and refused. */
#include "report/result.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "made.h"

static char directory[] = "/tmp/umemcg-test-result-XXXXXX";
static char path[sizeof(directory) + 32];

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/result.json", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

static size_t count_files(void)
{
	DIR *stream = opendir(directory);
	size_t nr_files = 0;

	assert_non_null(stream);
	for (struct dirent *entry; (entry = readdir(stream));)
		nr_files += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	closedir(stream);
	return nr_files;
}

/* One of everything, with values that are awkward to write. */
static struct bench_result *full_result(void)
{
	const struct bench_environment environment = {
		.kernel = "6.1.0-57",
		.command_line = "quiet \"x\\y\"",
		.config_memcg = "y",
		.cpu = "Grüße®",
		.cpus = 4,
		.memory_bytes = INT64_MAX,
		.seed = INT64_MAX,
		.load = 0.1,
		.aslr = "2",
		.governor = "performance",
		.pinning = "0-1",
		.warm_up = "1 block",
		.busy = true,
	};
	const struct bench_sample samples[] = {
		{ 7, 0.1, 1e-9, 0, 5e-324, 3 },
		{ 0, 1.7976931348623157e308, 2, 0.1 + 0.2, 1, 4 },
	};
	struct bench_result *result = made_result("replaced");
	struct bench_profile *profile;
	struct bench_series *series;

	assert_int_equal(result_set_environment(result, &environment), 0);
	assert_int_equal(result_add_note(result, "a note"), 0);
	series = made_series(result, "pft", "Set", "faults/cpu", "faults/sec", NULL, 0);
	assert_int_equal(series_set_param_integer(series, "workers", 3), 0);
	assert_int_equal(series_set_param_integer(series, "workers", INT64_MIN), 0);
	assert_int_equal(series_set_param_text(series, "by", "threads"), 0);
	for (size_t i = 0; i < NR(samples); i++)
		assert_int_equal(series_add_sample(series, &samples[i]), 0);
	made_series(result, "empty", "Set", "x", "s", NULL, 0);
	assert_int_equal(result_add_profile(result, "pft", "kernel", "Set", 100, &profile), 0);
	assert_int_equal(profile_add_symbol(profile, "mm/memcontrol.c", "try_charge", 5), 0);
	assert_int_equal(profile_add_symbol(profile, "mm/memory.c", "do_fault", 6), 0);
	assert_int_equal(profile_add_symbol(profile, "mm/memcontrol.c", "try_charge", 7), 0);
	assert_int_equal(profile_set_meter(profile, "time"), 0);
	assert_int_equal(profile_set_meter(profile, "exact"), 0);
	profile_set_part(profile, BENCH_PART_APART);
	assert_int_equal(profile_set_operations(profile, INT64_MAX), 0);
	assert_int_equal(profile_set_param_text(profile, "kernel", "old"), 0);
	assert_int_equal(profile_set_param_integer(profile, "cgroup", 1), 0);
	assert_int_equal(profile_add_call(profile, "do_fault", "try_charge", INT64_MAX, 12), 0);
	assert_int_equal(result_add_profile(result, "pft", "lib", "Set", 0, &profile), 0);
	assert_int_equal(result_add_skipped(result, "kernel disabled", ""), 0);
	return result;
}

static struct bench_result *written_and_read(struct bench_result *result)
{
	struct bench_result *read;
	struct report_error error;

	assert_int_equal(result_write(result, path, &error), 0);
	assert_int_equal(result_read(path, &read, &error), 0);
	result_destroy(result);
	return read;
}

static void what_was_written_is_read(void **state)
{
	struct bench_result *result = written_and_read(full_result());
	const struct bench_environment *e = &result->environment;
	const struct bench_series *series = result->series[0];

	(void)state;
	assert_string_equal(e->kernel, "6.1.0-57");
	assert_string_equal(e->command_line, "quiet \"x\\y\"");
	assert_string_equal(e->cpu, "Grüße®");
	assert_string_equal(e->thp, "");
	assert_string_equal(e->warm_up, "1 block");
	assert_true(e->busy);
	assert_true(e->seed == INT64_MAX && e->memory_bytes == INT64_MAX && e->load == 0.1);
	assert_int_equal(result->nr_notes, 1);
	assert_int_equal(result->nr_series, 2);
	assert_int_equal(series->better, BENCH_HIGHER);
	assert_null(series->title);
	assert_int_equal(series->nr_params, 2);
	assert_string_equal(series->params[0].text, "threads");
	assert_true(series->params[1].integer == INT64_MIN);
	assert_int_equal(series->nr_samples, 2);
	assert_int_equal(series->samples[0].block, 7);
	assert_true(series->samples[0].elapsed_s == 5e-324);
	assert_true(series->samples[1].value == 1.7976931348623157e308);
	assert_true(series->samples[1].system_s == 0.1 + 0.2);
	assert_int_equal(series->operations, 7);
	assert_int_equal(result->series[1]->nr_samples, 0);
	assert_int_equal(result->profiles[0]->files[0].count, 12);
	assert_int_equal(result->profiles[0]->files[0].nr_symbols, 1);
	assert_int_equal(result->profiles[0]->nr_files, 2);
	assert_string_equal(result->skipped[0].what, "kernel disabled");
	result_destroy(result);
}

static void what_a_profile_is_of_is_read(void **state)
{
	struct bench_result *result = written_and_read(full_result());
	const struct bench_profile *profile = result->profiles[0];

	(void)state;
	assert_int_equal(result->nr_profiles, 2);
	assert_string_equal(profile->meter, "exact");
	assert_int_equal(profile->part, BENCH_PART_APART);
	assert_true(profile->operations == INT64_MAX);
	assert_int_equal(profile->nr_params, 2);
	assert_int_equal(profile->params[0].integer, 1);
	assert_string_equal(profile->params[1].text, "old");
	assert_int_equal(profile->nr_calls, 1);
	assert_string_equal(profile->calls[0].caller, "do_fault");
	assert_string_equal(profile->calls[0].callee, "try_charge");
	assert_true(profile->calls[0].nr_calls == INT64_MAX);
	assert_int_equal(profile->calls[0].count, 12);
	profile = result->profiles[1];
	assert_null(profile->meter);
	assert_int_equal(profile->part, BENCH_PART_RUN);
	assert_int_equal(profile->operations, 0);
	assert_int_equal(profile->nr_params, 0);
	assert_int_equal(profile->nr_calls, 0);
	result_destroy(result);
}

static void a_written_file_follows_its_schema(void **state)
{
	static const char script[] =
		"import json, sys\n"
		"try:\n"
		"    import jsonschema\n"
		"except ImportError:\n"
		"    sys.exit(77)\n"
		"schema = json.load(open(sys.argv[1]))\n"
		"jsonschema.Draft202012Validator.check_schema(schema)\n"
		"jsonschema.Draft202012Validator(schema).validate(json.load(open(sys.argv[2])))\n";
	const char *source = getenv("UMEMCG_SOURCE");
	struct bench_result *result;
	char schema[4096];
	pid_t child;
	int status;

	(void)state;
	if (!source) {
		print_message("SKIP: UMEMCG_SOURCE does not name the source tree\n");
		skip();
	}
	result = written_and_read(full_result());
	snprintf(schema, sizeof(schema), "%s/docs/result.schema.json", source);
	child = fork();
	if (child == 0) {
		execlp("python3", "python3", "-c", script, schema, path, (char *)NULL);
		_exit(77);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	result_destroy(result);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("SKIP: python3-jsonschema is not installed\n");
		skip();
	}
	assert_int_equal(status, 0);
}

static void the_directory_gets_no_other_file(void **state)
{
	struct bench_result *result = full_result();
	struct report_error error;
	struct stat status;
	mode_t mask = umask(022);

	(void)state;
	unlink(path);
	assert_int_equal(result_write(result, path, &error), 0);
	assert_int_equal(count_files(), 1);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0644);
	/* Replaced: another file of the same mode. */
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(result_write(result, path, &error), 0);
	assert_int_equal(count_files(), 1);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	umask(mask);
	result_destroy(result);
}

static void a_link_stays_a_link_and_a_pipe_a_pipe(void **state)
{
	struct bench_result *result = full_result(), *read;
	char link_path[sizeof(path)], pipe_path[sizeof(path)];
	struct report_error error;
	struct stat status;
	pid_t child;

	(void)state;
	snprintf(link_path, sizeof(link_path), "%s/link", directory);
	snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", directory);
	assert_int_equal(result_write(result, path, &error), 0);
	assert_int_equal(symlink("result.json", link_path), 0);
	assert_int_equal(result_write(result, link_path, &error), 0);
	assert_int_equal(lstat(link_path, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(mkfifo(pipe_path, 0600), 0);
	child = fork();
	if (child == 0)
		_exit(result_write(result, pipe_path, &error) != 0);
	assert_int_equal(result_read(pipe_path, &read, &error), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(lstat(pipe_path, &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
	result_destroy(read);
	result_destroy(result);
	unlink(link_path);
	unlink(pipe_path);
}

static void a_failed_write_leaves_the_old_file(void **state)
{
	struct bench_result *result = full_result();
	struct report_error error;
	char missing[sizeof(path) + 16];

	(void)state;
	snprintf(missing, sizeof(missing), "%s/no/result.json", directory);
	assert_int_equal(result_write(result, missing, &error), -ENOENT);
	assert_non_null(strstr(error.text, missing));
	assert_int_equal(result_write(result, directory, &error), -EISDIR);
	/* No room for the new one: the file size limit stands for a full disk. */
	assert_int_equal(result_write(result, path, &error), 0);
	if (fork() == 0) {
		const struct rlimit limit = { 100, 100 };
		struct bench_result *read;

		signal(SIGXFSZ, SIG_IGN);
		_exit(setrlimit(RLIMIT_FSIZE, &limit) ||
		      result_write(result, path, &error) != -EFBIG ||
		      result_read(path, &read, &error) != 0);
	} else {
		int status;

		wait(&status);
		assert_int_equal(status, 0);
	}
	assert_int_equal(count_files(), 1);
	result_destroy(result);
}

static void what_is_not_a_measurement_is_refused(void **state)
{
	struct bench_result *result = made_result("6.1");
	struct bench_series *series = made_times(result, "Set", (double[]){ 1 }, 1);
	const struct bench_sample bad[] = {
		{ 1, NAN, -1, -1, -1, 1 },       { 1, INFINITY, -1, -1, -1, 1 },
		{ 1, -0.5, -1, -1, -1, 1 },      { 1, 1, -1, 0.1, 0.1, 1 },
		{ 1, 1, 0.1, NAN, 0.1, 1 },      { 1, 1, 0.1, 0.1, 0.1, 1 },
		{ 1, 1, -1, -1, -1, INT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < NR(bad); i++)
		assert_int_equal(series_add_sample(series, &bad[i]), -EINVAL);
	assert_int_equal(series->nr_samples, 1);
	assert_int_equal(series->operations, 100);
	result_destroy(result);
}

static void names_that_could_steer_a_terminal_are_refused(void **state)
{
	const char *bad[] = { "",
			      "a\nb",
			      "\x1b[31m",
			      "\x7f",
			      "\xc2\x9b"
			      "31m",
			      "\xff\xfe",
			      NULL };
	struct bench_result *result = made_result("6.1");
	struct bench_series_name name = { "w", "lib", "time", "c", "m", "s", BENCH_LOWER, NULL };
	struct bench_series *series;
	struct bench_profile *profile;

	(void)state;
	for (size_t i = 0; i < NR(bad); i++) {
		name.config = bad[i];
		assert_int_equal(result_add_series(result, &name, &series), -EINVAL);
	}
	name.config = "c";
	name.target = "libs";
	assert_int_equal(result_add_series(result, &name, &series), -EINVAL);
	name.target = "lib";
	name.title = "";
	assert_int_equal(result_add_series(result, &name, &series), -EINVAL);
	assert_int_equal(result->nr_series, 0);
	assert_int_equal(result_add_note(result, bad[2]), -EINVAL);
	assert_int_equal(result_add_skipped(result, bad[1], "why"), -EINVAL);
	assert_int_equal(result_add_skipped(result, "what", bad[1]), -EINVAL);
	assert_int_equal(result_add_profile(result, "w", "lib", "c", 9, &profile), 0);
	assert_int_equal(profile_add_symbol(profile, "a.c", bad[4], 1), -EINVAL);
	assert_int_equal(profile->nr_files, 0);
	assert_int_equal(profile_add_symbol(profile, "a.c", "f", INT64_MAX), 0);
	assert_int_equal(profile_add_symbol(profile, "a.c", "f", 1), -ERANGE);
	assert_int_equal(profile_set_meter(profile, "clock"), -EINVAL);
	assert_int_equal(profile_set_meter(profile, NULL), -EINVAL);
	assert_int_equal(profile_set_operations(profile, UINT64_MAX), -EINVAL);
	assert_int_equal(profile_set_param_integer(profile, "", 1), -EINVAL);
	assert_int_equal(profile_add_call(profile, "f", "", 1, 1), -EINVAL);
	assert_int_equal(profile_add_call(profile, "f", "g", UINT64_MAX, 1), -EINVAL);
	assert_int_equal(profile_add_call(profile, "f", "g", 1, UINT64_MAX), -EINVAL);
	assert_int_equal(profile->nr_calls, 0);
	result_destroy(result);
}

static void a_series_is_found_by_what_is_given_of_its_name(void **state)
{
	struct bench_result *result = made_result("6.1");
	struct bench_series *unset = made_times(result, "Unset", NULL, 0);
	struct bench_series *set = made_times(result, "Set", NULL, 0);

	(void)state;
	assert_ptr_equal(result_find_series(result, &(struct bench_series_name){ 0 }), unset);
	assert_ptr_equal(result_find_series(result, &(struct bench_series_name){ .config = "Set",
										 .unit = "s" }),
			 set);
	assert_null(result_find_series(result, &(struct bench_series_name){ .workload = "pft" }));
	result_destroy(result);
}

/* A file that is right but for one replaced piece, and what must be said about it. */
static void refuses(const char *piece, const char *replacement, const char *complaint)
{
	static const char good[] =
		"{\"umemcg_result\": 1, \"environment\": {\"kernel\": \"6.1\", \"command_line\": \"\","
		"\"config_memcg\": \"y\", \"cpu\": \"c\", \"cpus\": 2, \"memory_bytes\": 4096,"
		"\"thp\": \"never\", \"cgroup\": \"v2\", \"compiler\": \"gcc\","
		"\"umemcg_version\": \"0.1.0\", \"seed\": 1, \"started\": \"now\", \"load\": 0.5,"
		"\"notes\": []}, \"series\": [{\"workload\": \"fork\", \"target\": \"lib\","
		"\"meter\": \"time\", \"config\": \"Set\", \"params\": {\"pages\": 256},"
		"\"metric\": \"elapsed time\", \"unit\": \"s\", \"better\": \"lower\","
		"\"samples\": [1.5, 2], \"blocks\": [0, 1], \"operations\": 9,"
		"\"user_s\": [1, 2], \"system_s\": [1, 2], \"elapsed_s\": [1, 2]}],"
		"\"profiles\": [{\"workload\": \"fork\", \"target\": \"lib\", \"config\": \"Set\","
		"\"total\": 10, \"files\": [{\"path\": \"a.c\", \"count\": 5, \"symbols\":"
		"[{\"name\": \"f\", \"count\": 5}]}]}],"
		"\"skipped\": [{\"what\": \"x\", \"why\": \"y\"}]}";
	const char *at = strstr(good, piece);
	struct bench_result *result = NULL;
	struct report_error error = { "" };
	char *text;

	assert_non_null(at);
	assert_true(asprintf(&text, "%.*s%s%s", (int)(at - good), good, replacement,
			     at + strlen(piece)) >= 0);
	if (!complaint) {
		assert_int_equal(result_parse(text, strlen(text), "IT", &result, &error), 0);
		result_destroy(result);
	} else {
		int ret = result_parse(text, strlen(text), "IT", &result, &error);

		if (ret != -EINVAL || strncmp(error.text, "IT: ", 4) ||
		    !strstr(error.text, complaint) || !strstr(error.text, "accepted") ||
		    strchr(error.text, '\n'))
			fail_msg("%s for %s: %d, %s", replacement, piece, ret, error.text);
		assert_null(result);
	}
	free(text);
}

static void each_wrong_field_is_named(void **state)
{
	(void)state;
	refuses("\"kernel\"", "\"kernel\"", NULL);
	refuses("\"skipped\": [", "\"unknown\": {}, \"skipped\": [", NULL);
	refuses("\"blocks\": [0, 1],", "", NULL);
	refuses("\"umemcg_result\": 1", "\"umemcg_result\": 2", "version 2 is newer");
	refuses("\"umemcg_result\": 1", "\"umemcg_result\": 0", "not a result file");
	refuses("\"umemcg_result\": 1", "\"umemcg_result\": \"1\"", "not a result file");
	refuses("\"umemcg_result\"", "\"results\"", "not a result file");
	refuses("\"umemcg_result\"", "\"umemcg_comparison\"", "a comparison of several");
	refuses("\"kernel\": \"6.1\"", "\"kernel\": 6.1", "environment.kernel must be");
	refuses("\"kernel\": \"6.1\",", "", "environment.kernel must be");
	refuses("\"cpu\": \"c\"", "\"cpu\": \"\\u001b[31m\"", "environment.cpu must be");
	refuses("\"cpus\": 2", "\"cpus\": 4294967296", "environment.cpus must be an integer");
	refuses("\"cpus\": 2", "\"cpus\": 1.5", "environment.cpus must be an integer");
	refuses("\"memory_bytes\": 4096", "\"memory_bytes\": -1", "environment.memory_bytes");
	refuses("\"load\": 0.5", "\"load\": -0.5", "environment.load must be a number");
	refuses("\"notes\": []", "\"notes\": [1]", "environment.notes must be");
	refuses("\"notes\": []", "\"notes\": [], \"busy\": 1", "environment.busy must be");
	refuses("\"series\": [{", "\"series\": [7, {", "series[0] must be an object");
	refuses("\"workload\": \"fork\"", "\"workload\": \"\"", "series[0].workload must be");
	refuses("\"target\": \"lib\"", "\"target\": \"libs\"", "\"lib\" or \"kernel\"");
	refuses("\"meter\": \"time\"", "\"meter\": \"clock\"", "\"time\" or \"exact\"");
	refuses("\"better\": \"lower\"", "\"better\": \"less\"", "series[0].better must be");
	refuses("\"pages\": 256", "\"pages\": 2.5", "series[0].params must be");
	refuses("\"pages\": 256", "\"\": 256", "series[0].params must be");
	refuses("[1.5, 2]", "[1.5, -2]", "series[0].samples must be");
	refuses("[1.5, 2]", "[1.5, null]", "series[0].samples must be");
	refuses("[1.5, 2]", "{}", "series[0].samples must be an array");
	refuses("[0, 1]", "[0]", "series[0].blocks must be as long as samples");
	refuses("[0, 1]", "[0, 4294967296]", "series[0].blocks must be");
	refuses("\"user_s\": [1, 2]", "\"user_s\": [1]", "series[0].user_s must be as long");
	refuses("\"system_s\": [1, 2]", "\"system_s\": []", "series[0].system_s must be as long");
	refuses("\"elapsed_s\": [1, 2]", "\"elapsed_s\": [1, -1]", "elapsed_s must be arrays");
	refuses("\"operations\": 9", "\"operations\": -9", "series[0].operations must be");
	refuses("\"total\": 10", "\"total\": 1e1", "profiles[0].total must be an integer");
	refuses("\"total\": 10,",
		"\"total\": 10, \"meter\": \"exact\", \"part\": \"run\", \"calls\": [],", NULL);
	refuses("\"total\": 10", "\"total\": 10, \"meter\": \"clock\"",
		"profiles[0].meter must be");
	refuses("\"total\": 10", "\"total\": 10, \"part\": \"all\"", "profiles[0].part must be");
	refuses("\"total\": 10", "\"total\": 10, \"operations\": -1",
		"profiles[0].operations must");
	refuses("\"total\": 10", "\"total\": 10, \"params\": {\"kernel\": 1.5}",
		"profiles[0].params must");
	refuses("\"total\": 10", "\"total\": 10, \"calls\": {}",
		"profiles[0].calls must be an array");
	refuses("\"total\": 10",
		"\"total\": 10, \"calls\": [{\"caller\": \"f\", \"callee\": \"g\", \"calls\": 1, \"count\": -1}]",
		"profiles[0].calls[0].count must be");
	refuses("\"total\": 10",
		"\"total\": 10, \"calls\": [{\"caller\": \"f\", \"calls\": 1, \"count\": 1}]",
		"profiles[0].calls[0].callee must be");
	refuses("\"path\": \"a.c\"", "\"path\": 5", "profiles[0].files[0].path must be");
	refuses("\"name\": \"f\"", "\"name\": \"\"", "profiles[0].files[0].symbols[0].name");
	refuses("\"why\": \"y\"", "\"why\": 5", "skipped[0].why must be");
	refuses("\"profiles\": [{", "\"profiles\": 5, \"x\": [{", "profiles must be an array");
}

static int read_text(const char *text, struct report_error *error)
{
	struct bench_result *result = NULL;
	int ret = result_parse(text, strlen(text), "IT", &result, error);

	assert_null(result);
	return ret;
}

static void what_is_no_json_is_refused_in_one_line(void **state)
{
	struct report_error error;

	(void)state;
	assert_int_equal(read_text("", &error), -EINVAL);
	assert_non_null(strstr(error.text, "IT: ends too early; accepted is"));
	assert_int_equal(read_text("{\"umemcg_result\": 1, \"enviro", &error), -EINVAL);
	assert_non_null(strstr(error.text, "IT: ends too early"));
	assert_int_equal(read_text("root:x:0:0", &error), -EINVAL);
	assert_non_null(strstr(error.text, "IT: is not JSON (line 1, column"));
	assert_int_equal(read_text("{\"a\": 1, \"a\": 2}", &error), -EINVAL);
	assert_int_equal(read_text("[1, 2]", &error), -EINVAL);
	assert_int_equal(read_text("{\"umemcg_result\": 99999999999999999999}", &error), -EINVAL);
	assert_int_equal(read_text("{\"umemcg_result\": 1e999}", &error), -EINVAL);
}

static void files_that_would_eat_memory_are_refused(void **state)
{
	struct bench_result *result = NULL;
	struct report_error error;
	size_t nr_bytes = 9u << 20;
	char *text = malloc(nr_bytes);

	(void)state;
	assert_non_null(text);
	/* Nine million empty arrays beside each other; then inside each other. */
	memset(text, ',', nr_bytes);
	text[0] = '[';
	assert_int_equal(result_parse(text, nr_bytes, "IT", &result, &error), -EFBIG);
	assert_non_null(strstr(error.text, "more than"));
	memset(text, '[', nr_bytes);
	assert_int_equal(result_parse(text, nr_bytes, "IT", &result, &error), -EFBIG);
	assert_int_equal(result_parse(text, 1u << 20, "IT", &result, &error), -EINVAL);
	free(text);
	assert_int_equal(result_read("/dev/zero", &result, &error), -EFBIG);
	assert_non_null(strstr(error.text, "/dev/zero: larger than 64 MiB"));
}

static void what_cannot_be_opened_is_named(void **state)
{
	struct bench_result *result = NULL;
	struct report_error error;

	(void)state;
	assert_int_equal(result_read("/nonexistent/x.json", &result, &error), -ENOENT);
	assert_string_equal(error.text, "/nonexistent/x.json: No such file or directory; accepted "
					"is a result file of umemcg bench --json");
	assert_int_equal(result_read("/", &result, &error), -EISDIR);
	assert_null(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(what_a_profile_is_of_is_read),
		cmocka_unit_test(a_written_file_follows_its_schema),
		cmocka_unit_test(the_directory_gets_no_other_file),
		cmocka_unit_test(a_link_stays_a_link_and_a_pipe_a_pipe),
		cmocka_unit_test(a_failed_write_leaves_the_old_file),
		cmocka_unit_test(what_is_not_a_measurement_is_refused),
		cmocka_unit_test(names_that_could_steer_a_terminal_are_refused),
		cmocka_unit_test(a_series_is_found_by_what_is_given_of_its_name),
		cmocka_unit_test(each_wrong_field_is_named),
		cmocka_unit_test(what_is_no_json_is_refused_in_one_line),
		cmocka_unit_test(files_that_would_eat_memory_are_refused),
		cmocka_unit_test(what_cannot_be_opened_is_named),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
