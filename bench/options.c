/* SPDX-License-Identifier: MIT */
/* The command line of `umemcg bench`. */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "options.h"
#include "options_lists.h"

enum {
	KEY_RUNS = 256,
	KEY_TIME,
	KEY_SEED,
	KEY_WORKERS,
	KEY_JSON,
	KEY_CSV,
	KEY_SAVE,
	KEY_QUICK,
	KEY_FULL,
	KEY_SEEDS,
	KEY_LIST,
	KEY_HELP = 'h',
};

static const struct argp_option argp_options[] = {
	{ "target", 't', "LIST", 0, "whose accounting: lib, kernel (default: both)", 0 },
	{ "meter", 'm', "LIST", 0, "measured how: time", 0 },
	{ "workload", 'w', "LIST", 0, "which work, or all (default: fork,fork_touch,pft)", 0 },
	{ "config", 'c', "LIST", 0, "in which states, or all", 0 },
	{ "runs", KEY_RUNS, "N", 0, "blocks of each configuration", 0 },
	{ "time", KEY_TIME, "SECONDS", 0, "as many blocks as fit into this time", 0 },
	{ "seed", KEY_SEED, "N", 0, "of the order of blocks (default: from the clock)", 0 },
	{ "workers", KEY_WORKERS, "LIST", 0, "how many side by side, as 1,3,5,7,8", 0 },
	{ "json", KEY_JSON, "FILE", 0, "write the result", 0 },
	{ "csv", KEY_CSV, "FILE", 0, "write the comparisons as a table for spreadsheets", 0 },
	{ "save", KEY_SAVE, "DIR", 0, "make DIR: result, tables, and a README that explains them",
	  0 },
	{ "quick", KEY_QUICK, NULL, 0, "at most 60 s (the default)", 1 },
	{ "seeds", KEY_SEEDS, NULL, 0, "the tables of the two mailing-list posts, 150 s", 1 },
	{ "full", KEY_FULL, NULL, 0, "every workload and configuration, 20 minutes", 1 },
	{ "list", KEY_LIST, NULL, 0, "what there is, and why some of it cannot be measured here",
	  2 },
	{ "help", KEY_HELP, NULL, 0, "print this help, and exit", -1 },
	{ 0 },
};

struct parse {
	struct bench_options *options;
	bool refused; /* and said why */
	int next;     /* index of the argument behind those that were understood */
	bool has_time;
	const char *workloads;      /* as given */
	const char *configurations; /* as given */
	const char *targets;
};

__attribute__((format(printf, 1, 2))) static error_t refuse(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("umemcg bench: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	return EINVAL;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret_number = strtoull(text, &end, 10);
	return !errno && !*end && *ret_number <= max;
}

static error_t parse_runs(const char *text, struct bench_options *options)
{
	uint64_t number;

	if (!parse_number(text, 1000000, &number) || number < 2)
		return refuse("--runs %s: a number from 2 to 1000000 is accepted", text);
	options->nr_runs = (unsigned int)number;
	return 0;
}

static error_t parse_time(const char *text, struct parse *parse)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !isfinite(seconds) || seconds < 1 || seconds > 86400)
		return refuse("--time %s: seconds from 1 to 86400 are accepted", text);
	parse->options->time_s = seconds;
	parse->has_time = true;
	return 0;
}

static error_t parse_seed(const char *text, struct bench_options *options)
{
	if (!parse_number(text, INT64_MAX, &options->seed))
		return refuse("--seed %s: a number from 0 to %lld is accepted", text,
			      (long long)INT64_MAX);
	return 0;
}

static error_t parse_meter(const char *text)
{
	if (strcmp(text, "time"))
		return refuse("-m %s: accepted are: time", text);
	return 0;
}

/* A file is only written when the run is over, so that it can be is better known beforehand. */
static error_t parse_file(const char *option, const char *path, const char **ret_path)
{
	if (!options_can_write(path))
		return refuse("%s %s: accepted is a file in a directory that can be written",
			      option, path);
	*ret_path = path;
	return 0;
}

static error_t parse_save(const char *path, struct bench_options *options)
{
	if (!options_can_make(path))
		return refuse(
			"--save %s: accepted is the name of a directory that is not there yet",
			path);
	options->save = path;
	return 0;
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
	struct parse *parse = state->input;
	struct bench_options *options = parse->options;

	switch (key) {
	case 't':
		parse->targets = argument;
		return 0;
	case 'm':
		return parse_meter(argument);
	case 'w':
		parse->workloads = argument;
		return 0;
	case 'c':
		parse->configurations = argument;
		return 0;
	case KEY_RUNS:
		return parse_runs(argument, options);
	case KEY_TIME:
		return parse_time(argument, parse);
	case KEY_SEED:
		return parse_seed(argument, options);
	case KEY_WORKERS:
		return options_parse_workers(argument, options)
			       ? refuse("--workers %s: numbers from 1 to %d, with commas, are accepted",
					argument, OPTIONS_WORKERS_MAX)
			       : 0;
	case KEY_JSON:
		return parse_file("--json", argument, &options->json);
	case KEY_CSV:
		return parse_file("--csv", argument, &options->csv);
	case KEY_SAVE:
		return parse_save(argument, options);
	case KEY_QUICK:
		options->preset = PRESET_QUICK;
		return 0;
	case KEY_SEEDS:
		options->preset = PRESET_SEEDS;
		return 0;
	case KEY_FULL:
		options->preset = PRESET_FULL;
		return 0;
	case KEY_LIST:
		options->list = true;
		return 0;
	case KEY_HELP:
		argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP, (char *)"umemcg bench");
		exit(0);
	case ARGP_KEY_ARGS:
		if (strcmp(state->argv[state->next - 1], "--"))
			return refuse("%s: a command is accepted behind --",
				      state->argv[state->next]);
		options->command = state->argv + state->next;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct parse *parse = state->input;
	error_t error = parse_key(key, argument, state);

	parse->refused = parse->refused || error == EINVAL;
	if (!error && state->next > parse->next)
		parse->next = state->next;
	return error;
}

/* What the presets choose, where the command line did not. */
static void apply_preset(struct parse *parse)
{
	static const double times_s[] = {
		[PRESET_QUICK] = 57, [PRESET_SEEDS] = 150, [PRESET_FULL] = 1200
	};
	struct bench_options *options = parse->options;

	if (!parse->has_time)
		options->time_s = times_s[options->preset];
	if (parse->has_time == false && options->nr_runs)
		options->time_s = 0;
	if (!parse->targets)
		parse->targets = "lib,kernel";
	if (!parse->workloads)
		parse->workloads = options->preset == PRESET_FULL ? "all" : "fork,fork_touch,pft";
}

static error_t parse_lists(struct parse *parse)
{
	struct bench_options *options = parse->options;
	char bad[OPTIONS_BAD];

	if (options_parse_targets(parse->targets, options, bad))
		return refuse("-t %s: accepted are: lib, kernel", bad);
	if (options->command)
		options->nr_workloads = 0;
	else if (options_parse_workloads(parse->workloads, options, bad))
		return refuse("-w %s: accepted are: %s", bad, options_accepted_workloads());
	if (options_parse_configurations(parse->configurations, options, bad))
		return refuse("-c %s: accepted are: %s", bad, configuration_accepted());
	return 0;
}

int options_parse(int argc, char **argv, struct bench_options *ret_options)
{
	static const char documentation[] =
		"Measures what memory accounting costs, libumemcg's or the kernel's, in interleaved "
		"blocks with a control, and prints tables with intervals and verdicts. A command "
		"after -- is the workload.\v"
		"Examples:\n"
		"  umemcg bench\n"
		"      Measure fork, fork_touch and pft for both targets in a minute.\n"
		"  umemcg bench -t kernel -w pft -c Unset,child,Set,depth-8 --json result.json\n"
		"      What a fault costs in the kernel's groups; keep the result.\n"
		"  umemcg bench -t kernel --runs 20 -- gzip -9 -k -f some.file\n"
		"      The same of a command.";
	const struct argp argp = { .options = argp_options,
				   .parser = parse_option,
				   .args_doc = "[-- CMD ARGS...]",
				   .doc = documentation };
	struct parse parse = { .options = ret_options, .next = 1 };
	struct timespec now;
	error_t error;

	memset(ret_options, 0, sizeof(*ret_options));
	clock_gettime(CLOCK_REALTIME, &now);
	ret_options->seed = (uint64_t)now.tv_sec ^ ((uint64_t)now.tv_nsec << 20);
	ret_options->seed &= INT64_MAX;
	error = argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_HELP, NULL,
			   &parse);
	if (error) {
		if (!parse.refused)
			refuse("%s: no such option, or its value is missing (--help lists them)",
			       argv[parse.next < argc ? parse.next : argc - 1]);
		return -EINVAL;
	}
	if (ret_options->command && !options_is_command(ret_options->command[0])) {
		refuse("%s: accepted is a program that can be executed", ret_options->command[0]);
		return -EINVAL;
	}
	apply_preset(&parse);
	return parse_lists(&parse) ? -EINVAL : 0;
}
