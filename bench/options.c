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
#include "options_parse.h"

static const struct argp_option argp_options[] = {
	{ "target", 't', "LIST", 0, "whose accounting: lib, kernel (default: both)", 0 },
	{ "meter", 'm', "METER", 0, "measured how: time (the default) or exact", 0 },
	{ "workload", 'w', "LIST", 0,
	  "which work, or all (default: fork,fork_touch,pft; exact: pipe too)", 0 },
	{ "config", 'c', "LIST", 0, "in which states, or all", 0 },
	{ "seed", OPTIONS_KEY_SEED, "N", 0, "of the order of blocks (default: from the clock)", 0 },
	{ "workers", OPTIONS_KEY_WORKERS, "LIST", 0, "how many side by side, as 1,3,5,7,8", 0 },
	{ "json", OPTIONS_KEY_JSON, "FILE", 0, "write the result", 0 },
	{ "csv", OPTIONS_KEY_CSV, "FILE", 0, "write the comparisons as a table for spreadsheets",
	  0 },
	{ "html", OPTIONS_KEY_HTML, "FILE", 0, "write the result as one page", 0 },
	{ "save", OPTIONS_KEY_SAVE, "DIR", 0,
	  "make DIR: result, tables, and a README that explains them", 0 },
	{ NULL, 0, NULL, 0, "The time meter:", 1 },
	{ "runs", OPTIONS_KEY_RUNS, "N", 0, "blocks of each configuration", 1 },
	{ "time", OPTIONS_KEY_TIME, "SECONDS", 0, "as many blocks as fit into this time", 1 },
	{ NULL, 0, NULL, 0, "The exact meter:", 2 },
	{ "kernel", OPTIONS_KEY_KERNEL, "[NAME=]PATH", 0,
	  "kernel to boot, up to 8 of them (default: one of /boot, or got by --get-kernel)", 2 },
	{ "debug-info", OPTIONS_KEY_DEBUG_INFO, "[NAME=]VMLINUX", 0,
	  "its debug information, for the source files of all functions", 2 },
	{ "cgroup", OPTIONS_KEY_CGROUP, "LIST", 0, "memory cgroups v2 (the default), v1, or v1,v2",
	  2 },
	{ "layouts", OPTIONS_KEY_LAYOUTS, "N", 0,
	  "of memory, that each count is taken in: 1 to 16 (default: 5)", 2 },
	{ "explain", OPTIONS_KEY_EXPLAIN, "OPERATION[,CONFIG]", 0,
	  "which functions and calls a workload's cost in CONFIG (default: Set) comes from", 2 },
	{ "get-kernel", OPTIONS_KEY_GET_KERNEL, "PACKAGE", OPTION_ARG_OPTIONAL,
	  "download a kernel of Debian's for it, and exit", 2 },
	{ "yes", OPTIONS_KEY_YES, NULL, 0, "download without asking", 2 },
	{ NULL, 0, NULL, 0, "Presets:", 3 },
	{ "quick", OPTIONS_KEY_QUICK, NULL, 0, "at most 60 s (the default)", 3 },
	{ "seeds", OPTIONS_KEY_SEEDS, NULL, 0, "the tables of the two mailing-list posts, 150 s",
	  3 },
	{ "full", OPTIONS_KEY_FULL, NULL, 0, "every workload and configuration, 20 minutes or more",
	  3 },
	{ NULL, 0, NULL, 0, "Other:", 4 },
	{ "list", OPTIONS_KEY_LIST, NULL, 0,
	  "what there is, and why some of it cannot be measured here", 4 },
	{ "help", OPTIONS_KEY_HELP, NULL, 0, "print this help, and exit", -1 },
	{ 0 },
};

__attribute__((format(printf, 1, 2))) error_t options_refuse(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("umemcg bench: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	return EINVAL;
}

bool options_parse_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret_number = strtoull(text, &end, 10);
	return !errno && !*end && *ret_number <= max;
}

static error_t parse_runs(const char *text, struct parse *parse)
{
	uint64_t number;

	if (!options_parse_number(text, 1000000, &number) || number < 2)
		return options_refuse("--runs %s: a number from 2 to 1000000 is accepted", text);
	parse->options->nr_runs = (unsigned int)number;
	parse->only[METER_TIME] = "--runs";
	return 0;
}

static error_t parse_time(const char *text, struct parse *parse)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !isfinite(seconds) || seconds < 1 || seconds > 86400)
		return options_refuse("--time %s: seconds from 1 to 86400 are accepted", text);
	parse->options->time_s = seconds;
	parse->has_time = true;
	parse->only[METER_TIME] = "--time";
	return 0;
}

static error_t parse_seed(const char *text, struct bench_options *options)
{
	if (!options_parse_number(text, INT64_MAX, &options->seed))
		return options_refuse("--seed %s: a number from 0 to %lld is accepted", text,
				      (long long)INT64_MAX);
	return 0;
}

static error_t parse_meter(const char *text, struct bench_options *options)
{
	if (strchr(text, ','))
		return options_refuse("-m %s: one meter a run is accepted: time, exact", text);
	if (strcmp(text, "time") && strcmp(text, "exact"))
		return options_refuse("-m %s: accepted are: time, exact", text);
	options->meter = strcmp(text, "exact") ? METER_TIME : METER_EXACT;
	return 0;
}

/* What is wrong with an item of a list. */
static error_t refuse_item(const char *option, const char *item, int error, const char *accepted)
{
	if (error == -EEXIST)
		return options_refuse("%s %s: it, or part of it, is there twice; accepted is each "
				      "once",
				      option, item);
	if (error == -E2BIG)
		return options_refuse("%s %s: it is one too many; at most %d are accepted", option,
				      item, OPTIONS_NR_ITEMS);
	return options_refuse("%s %s: accepted are: %s", option, item, accepted);
}

static error_t parse_workers(const char *list, struct bench_options *options)
{
	char bad[OPTIONS_BAD], accepted[64];
	int error = options_parse_workers(list, options, bad);

	snprintf(accepted, sizeof(accepted), "numbers from 1 to %d, with commas",
		 OPTIONS_WORKERS_MAX);
	return error ? refuse_item("--workers", bad, error, accepted) : 0;
}

/* A file is only written when the run is over, so that it can be is better known beforehand. */
static error_t parse_file(const char *option, const char *path, const char **ret_path)
{
	if (!options_can_write(path))
		return options_refuse(
			"%s %s: accepted is a file in a directory that can be written", option,
			path);
	*ret_path = path;
	return 0;
}

static error_t parse_save(const char *path, struct bench_options *options)
{
	if (!options_can_make(path))
		return options_refuse(
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
		return parse_meter(argument, options);
	case 'w':
		parse->workloads = argument;
		return 0;
	case 'c':
		parse->configurations = argument;
		return 0;
	case OPTIONS_KEY_RUNS:
		return parse_runs(argument, parse);
	case OPTIONS_KEY_TIME:
		return parse_time(argument, parse);
	case OPTIONS_KEY_SEED:
		return parse_seed(argument, options);
	case OPTIONS_KEY_WORKERS:
		return parse_workers(argument, options);
	case OPTIONS_KEY_JSON:
		return parse_file("--json", argument, &options->json);
	case OPTIONS_KEY_CSV:
		return parse_file("--csv", argument, &options->csv);
	case OPTIONS_KEY_HTML:
		return parse_file("--html", argument, &options->html);
	case OPTIONS_KEY_SAVE:
		return parse_save(argument, options);
	case OPTIONS_KEY_QUICK:
		options->preset = PRESET_QUICK;
		return 0;
	case OPTIONS_KEY_SEEDS:
		options->preset = PRESET_SEEDS;
		return 0;
	case OPTIONS_KEY_FULL:
		options->preset = PRESET_FULL;
		return 0;
	case OPTIONS_KEY_LIST:
		options->list = true;
		return 0;
	case OPTIONS_KEY_HELP:
		argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP, (char *)"umemcg bench");
		exit(0);
	case ARGP_KEY_ARGS:
		if (strcmp(state->argv[state->next - 1], "--"))
			return options_refuse("%s: a command is accepted behind --",
					      state->argv[state->next]);
		options->command = state->argv + state->next;
		return 0;
	default:
		return options_parse_exact(key, argument, parse);
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

/* "fork" or "fork,Set": what is explained, in which configuration; returns its item if refused. */
static int parse_explain(const char *text, struct bench_options *options, char *ret_bad)
{
	const char *config = strchrnul(text, ',');
	char workload[OPTIONS_BAD], list[2 * OPTIONS_BAD];
	int error;

	snprintf(workload, sizeof(workload), "%.*s", (int)(config - text), text);
	error = options_parse_workloads(workload, options, ret_bad);
	if (error || options->nr_workloads != 1)
		return -EINVAL;
	/* What the others are held against comes first: without a controller if that can be had. */
	snprintf(list, sizeof(list), "base-NotCompiled,disabled,%.*s", OPTIONS_BAD,
		 *config ? config + 1 : "Set");
	options->exact.explain = true;
	return options_parse_configurations(list, options, ret_bad);
}

static error_t parse_lists(struct parse *parse)
{
	struct bench_options *options = parse->options;
	char bad[OPTIONS_BAD];
	int error = options_parse_targets(parse->targets, options, bad);

	if (error)
		return refuse_item("-t", bad, error, "lib, kernel");
	if (parse->explain)
		return parse_explain(parse->explain, options, bad)
			       ? options_refuse("--explain %s: accepted is one workload of "
						"--list, and behind a comma a configuration",
						parse->explain)
			       : 0;
	if (options->command)
		options->nr_workloads = 0;
	else
		error = options_parse_workloads(parse->workloads, options, bad);
	if (error)
		return refuse_item("-w", bad, error, options_accepted_workloads());
	error = options_parse_configurations(parse->configurations, options, bad);
	if (error)
		return refuse_item("-c", bad, error, configuration_accepted());
	return 0;
}

int options_parse(int argc, char **argv, struct bench_options *ret_options)
{
	static const char documentation[] =
		"Measures what memory accounting costs, libumemcg's or the kernel's: on this "
		"machine's clock, in interleaved blocks with a control; or exactly, in instructions "
		"of an emulated machine that boots any kernel. Prints tables with verdicts. A "
		"command after -- is the workload.\v"
		"Examples:\n"
		"  umemcg bench\n"
		"      Measure fork, fork_touch and pft for both targets in a minute.\n"
		"  umemcg bench -t kernel -w pft -c Unset,child,Set,depth-8 --json result.json\n"
		"      What a fault costs in the kernel's groups; keep the result.\n"
		"  umemcg bench -t kernel --runs 20 -- gzip -9 -k -f some.file\n"
		"      The same of a command.\n"
		"  umemcg bench -t kernel -m exact\n"
		"      What faults, forks and pipes cost in instructions, exactly; also what is\n"
		"      switched at the kernel's start.\n"
		"  umemcg bench -t kernel -m exact --kernel old=A --kernel new=B\n"
		"      What a patch costs, operation by operation, function by function.\n"
		"  umemcg bench -m exact --explain pft,Set\n"
		"      Which functions and calls the cost of a fault comes from.\n"
		"\n"
		"Exit status: 0; 1 if the time meter could measure nothing, or something cannot be "
		"written; 2 for wrong input, or if the exact meter could measure nothing; 130 if "
		"interrupted.";
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
			options_refuse(
				"%s: no such option, or its value is missing (--help lists them)",
				argv[parse.next < argc ? parse.next : argc - 1]);
		return -EINVAL;
	}
	if (options_check_exact(&parse))
		return -EINVAL;
	if (ret_options->command &&
	    !options_find_command(ret_options->command[0], ret_options->program)) {
		options_refuse("%s: accepted is a program that can be executed",
			       ret_options->command[0]);
		return -EINVAL;
	}
	options_apply_preset(&parse);
	return parse_lists(&parse) ? -EINVAL : 0;
}
