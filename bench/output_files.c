/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a run: the result, its tables, and a directory that explains both. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "output.h"
#include "output_render.h"
#include "report/replace_file.h"

static int fail(struct report_error *error, const char *path, int ret)
{
	if (!error->text[0])
		snprintf(error->text, sizeof(error->text), "%.900s: %s", path, strerror(-ret));
	return ret;
}

/* Renders into memory first, so that a file is there whole or not at all. */
static int write_rendered(const struct output *output, const struct bench_result *result,
			  const char *format, const char *path, struct report_error *error)
{
	char *text = NULL;
	size_t nr_bytes = 0;
	FILE *out = open_memstream(&text, &nr_bytes);
	int ret;

	if (!out)
		return fail(error, path, -ENOMEM);
	ret = format ? output_render(result, format, out, error)
		     : output_tables(output, out, error);
	if (fclose(out) && !ret)
		ret = -ENOMEM;
	if (!ret)
		ret = replace_file(path, text, nr_bytes);
	free(text);
	return ret ? fail(error, path, ret) : 0;
}

/* A word as a shell reads it back. */
static void print_quoted(FILE *out, const char *word)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789-_=./,:+@%")]) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

/* The seed is added where it was taken from the clock, so that the order is the same again. */
static void print_command(FILE *out, const struct output *output)
{
	bool has_seed = false, has_command = false;

	fputs("umemcg bench", out);
	for (char *const *word = output->argv + 1; *word; word++) {
		if (!strcmp(*word, "--") && !has_command) {
			has_command = true;
			if (!has_seed)
				fprintf(out, " --seed=%llu",
					(unsigned long long)output->options->seed);
			has_seed = true;
		}
		if (!has_command && !strncmp(*word, "--seed", 6) && strcmp(*word, "--seeds"))
			has_seed = true;
		fputc(' ', out);
		print_quoted(out, *word);
	}
	if (!has_seed)
		fprintf(out, " --seed=%llu", (unsigned long long)output->options->seed);
	fputc('\n', out);
}

static const char reading_time[] =
	"Each row or column is a configuration: a state of the accounting. Its difference to\n"
	"the base comes with a 95 % interval, found by resampling the blocks, and a verdict:\n"
	"equal (within 1 %), costs or saves (the interval excludes zero), or unclear, with an\n"
	"estimate of the runs that would tell. AA is the base measured a second time: what it\n"
	"seems to cost is noise.\n\n";

static const char reading_exact[] =
	"Each row is a configuration: a state of the accounting. Counts are instructions, and\n"
	"come out the same whenever they are repeated; they cannot show caches, atomics or\n"
	"contention. They depend a little on where memory lies, so that each has a median and\n"
	"a range over several layouts, which are the same for all configurations. The mode is\n"
	"what most single operations take that no interrupt fell into. What is put off is done\n"
	"for an operation by softirqs and kernel threads. A profile says which functions the\n"
	"instructions were in.\n\n";

static void print_readme(FILE *out, const struct output *output)
{
	const struct bench_environment *environment =
		output->exact ? &output->exact->environment : &output->machine->environment;

	fprintf(out, "What memory accounting costs: a run of umemcg's lab\n"
		     "===================================================\n\n");
	fprintf(out, "Made %s on %s (%u CPUs), kernel %s, memory cgroups %s,\numemcg %s.\n\n",
		environment->started, environment->cpu, environment->cpus, environment->kernel,
		environment->cgroup, environment->umemcg_version);
	fprintf(out,
		"Files\n-----\n"
		"result.json   every sample, the machine, and what could not be measured\n"
		"tables.txt    %s\n"
		"tables.md     the same comparisons for a web page\n"
		"tables.csv    the same for a spreadsheet\n\n"
		"Reading them\n------------\n",
		output->exact ? "what an operation costs in each configuration, and profiles"
			      : "fork tables as perf users print them, pft tables as mmtests does");
	fputs(output->exact ? reading_exact : reading_time, out);
	fputs("Repeating it\n------------\n", out);
	print_command(out, output);
	fprintf(out,
		"umemcg compare %sresult.json               prints the tables again\n"
		"umemcg compare %sresult.json OTHER.json    beside those of another run\n",
		output->exact ? "--format exact " : "", output->exact ? "--format exact " : "");
}

static int save_readme(const struct output *output, const char *path, struct report_error *error)
{
	char *text = NULL;
	size_t nr_bytes = 0;
	FILE *out = open_memstream(&text, &nr_bytes);
	int ret = 0;

	if (!out)
		return fail(error, path, -ENOMEM);
	print_readme(out, output);
	if (fclose(out))
		ret = -ENOMEM;
	if (!ret)
		ret = replace_file(path, text, nr_bytes);
	free(text);
	return ret ? fail(error, path, ret) : 0;
}

static int save(const struct output *output, const struct bench_result *result,
		struct report_error *error)
{
	static const struct {
		const char *name;
		const char *format;
	} tables[] = { { "tables.txt", NULL },
		       { "tables.md", "markdown" },
		       { "tables.csv", "csv" } };
	const char *directory = output->options->save;
	char path[PATH_MAX + 16];
	int ret;

	if (mkdir(directory, 0777))
		return fail(error, directory, -errno);
	snprintf(path, sizeof(path), "%s/result.json", directory);
	ret = result_write(result, path, error);
	for (unsigned int i = 0; i < 3 && !ret; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, tables[i].name);
		ret = write_rendered(output, result, tables[i].format, path, error);
	}
	snprintf(path, sizeof(path), "%s/README", directory);
	return ret ? ret : save_readme(output, path, error);
}

static int write_files(const struct output *output, const struct bench_result *result,
		       struct report_error *error)
{
	const struct bench_options *options = output->options;
	int ret = 0;

	if (options->json)
		ret = result_write(result, options->json, error);
	if (!ret && options->csv)
		ret = write_rendered(output, result, "csv", options->csv, error);
	if (!ret && options->html)
		ret = write_rendered(output, result, "html", options->html, error);
	if (!ret && options->save)
		ret = save(output, result, error);
	return ret;
}

int output_files(const struct output *output, struct report_error *error)
{
	struct bench_result *result;
	int ret;

	error->text[0] = '\0';
	if (output->exact)
		return write_files(output, output->exact, error);
	ret = output_result(output, &result);
	if (ret)
		return fail(error, "the result", ret);
	ret = write_files(output, result, error);
	result_destroy(result);
	return ret;
}

void output_complain(const char *what)
{
	fprintf(stderr, "umemcg bench: %s\n", what);
}

int output_finish(const struct output *output, int printed, struct report_error *error)
{
	int status = 0;

	if (printed || fflush(stdout) || ferror(stdout)) {
		output_complain(error->text[0] ? error->text
					       : "standard output: cannot be written");
		status = 1;
	}
	error->text[0] = '\0';
	if (output_files(output, error)) {
		output_complain(error->text);
		status = 1;
	}
	return status;
}

int output_publish(const struct output *output)
{
	struct report_error error = { "" };

	return output_finish(output, output_tables(output, stdout, &error), &error);
}
