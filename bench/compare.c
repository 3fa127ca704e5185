/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/renderer.h"
#include "report/text.h"

#define EXIT_WRONG_INPUT 2

/* More results than anybody can read side by side. */
#define MAX_RESULTS 64

enum { KEY_PLAIN = 256, KEY_ADJUST, KEY_EFFECT, KEY_JSON, KEY_BASE, KEY_ACROSS };

static const struct argp_option argp_options[] = {
	{ "format", 'f', "NAME", 0,
	  "perf (the default), mmtests, lkp, exact, markdown, json, csv, html", 0 },
	{ "json", KEY_JSON, NULL, 0, "the same as --format json", 0 },
	{ "plain", KEY_PLAIN, NULL, 0, "the tables alone, without intervals and verdicts", 0 },
	{ "effect", KEY_EFFECT, "PERCENT", 0,
	  "the smallest difference of interest (default 1): below it, equal", 0 },
	{ "adjust", KEY_ADJUST, "METHOD", 0,
	  "correct verdicts for the number of comparisons; holm is accepted", 0 },
	{ "base", KEY_BASE, "CONFIG", 0,
	  "what to compare with (default: base-NotCompiled, else disabled, else the first)", 0 },
	{ "across", KEY_ACROSS, NULL, 0,
	  "compare each configuration with itself in the first RESULT", 0 },
	{ "help", 'h', NULL, 0, "print this help, and exit", -1 },
	{ 0 },
};

static const char documentation[] =
	"Judges results of umemcg bench and prints them as tables. Each difference comes with "
	"its 95 % interval and a verdict: equal, costs, saves, or unclear, and then how many "
	"more runs would tell.\v"
	"Examples:\n"
	"  umemcg compare result.json\n"
	"      What each configuration costs, one row each.\n"
	"  umemcg compare --format mmtests --plain result.json\n"
	"      The same, as mmtests prints it, for a mail.\n"
	"  umemcg compare --format lkp --plain result.json\n"
	"      As kernel robots report it.\n"
	"  umemcg compare --format html result.json > report.html\n"
	"      A page with plots, for a browser or for paper.\n"
	"  umemcg compare laptop.json server.json\n"
	"      Two machines side by side, each against its own base.\n"
	"  umemcg compare --across before.json after.json\n"
	"      What a change cost, configuration by configuration.\n"
	"  umemcg compare --format exact old-kernel.json new-kernel.json\n"
	"      Instructions an operation, counted by the exact meter, and where they go.\n"
	"  umemcg compare --json result.json\n"
	"      The result with its comparisons, for a script.\n"
	"\n"
	"Exit status: 0; 1 if the report cannot be written; 2 for wrong input.";

struct request {
	const struct renderer *renderer;
	struct comparison_options comparison;
	struct render_options render;
	const char *paths[MAX_RESULTS];
	size_t nr_paths;
	int next;     /* behind the argument that was wrong */
	bool refused; /* and said why */
};

__attribute__((format(printf, 1, 2))) static error_t refuse(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("umemcg compare: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	return EINVAL;
}

static error_t choose_format(struct request *request, const char *option, const char *name)
{
	const struct renderer *renderer = renderer_find(name);

	if (!renderer)
		return refuse("%s %s: accepted are %s", option, name, renderer_accepted());
	if (request->renderer && request->renderer != renderer)
		return refuse("%s %s: accepted is one format, %s was asked for before", option,
			      name, request->renderer->name);
	request->renderer = renderer;
	return 0;
}

static error_t parse_effect(struct request *request, const char *text)
{
	double percent;
	char *end;

	errno = 0;
	percent = strtod(text, &end);
	if (end == text || *end || errno || !(percent >= 0 && percent <= 100))
		return refuse("--effect %s: accepted is a percentage from 0 to 100", text);
	request->comparison.effect_percent = percent;
	return 0;
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case 'h':
		argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP, state->name);
		exit(EXIT_SUCCESS);
	case 'f':
		return choose_format(request, "--format", argument);
	case KEY_JSON:
		return choose_format(request, "--json, that is --format", "json");
	case KEY_PLAIN:
		request->render.plain = true;
		return 0;
	case KEY_EFFECT:
		return parse_effect(request, argument);
	case KEY_ADJUST:
		if (strcmp(argument, "holm"))
			return refuse("--adjust %s: accepted is holm", argument);
		request->comparison.adjust_holm = true;
		return 0;
	case KEY_BASE:
		if (strcmp(argument, COMPARISON_CONTROL) == 0)
			return refuse("--base %s: accepted is a configuration that is no control",
				      argument);
		request->comparison.base = argument;
		return 0;
	case KEY_ACROSS:
		request->comparison.across = true;
		return 0;
	case ARGP_KEY_ARG:
		if (request->nr_paths == MAX_RESULTS)
			return refuse("%s: accepted are at most %d results", argument, MAX_RESULTS);
		request->paths[request->nr_paths++] = argument;
		return 0;
	case ARGP_KEY_ERROR:
		request->next = state->next;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct request *request = state->input;
	error_t error = parse_key(key, argument, state);

	request->refused = request->refused || error == EINVAL;
	return error;
}

/* argp's own complaints take two lines, so it is told to keep quiet. */
static int parse_arguments(int argc, char **argv, struct request *request)
{
	static char name[] = "umemcg compare";
	const struct argp argp = { .options = argp_options,
				   .parser = parse_option,
				   .args_doc = "RESULT...",
				   .doc = documentation };

	argv[0] = name;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_HELP, NULL,
		       request)) {
		if (!request->refused)
			refuse("%s: no such option, or its value is missing (--help lists them)",
			       argv[request->next - 1]);
		return -EINVAL;
	}
	if (!request->nr_paths) {
		refuse("no result given; accepted are result files of umemcg bench --json");
		return -EINVAL;
	}
	if (request->comparison.across && request->nr_paths < 2) {
		refuse("--across %s: accepted are at least two results", request->paths[0]);
		return -EINVAL;
	}
	if (!request->renderer)
		request->renderer = &render_perf;
	return 0;
}

/* A terminal may be wider than what tables keep to otherwise. */
static size_t terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < 80)
		return 80;
	return size.ws_col;
}

struct results {
	struct run runs[MAX_RESULTS];
	struct bench_result *results[MAX_RESULTS];
	char *labels[MAX_RESULTS];
	size_t nr_results;
};

static void results_fini(struct results *results)
{
	for (size_t i = 0; i < results->nr_results; i++) {
		result_destroy(results->results[i]);
		free(results->labels[i]);
	}
}

static bool is_label_taken(const struct results *results, const char *label)
{
	for (size_t i = 0; i < results->nr_results; i++) {
		if (strcmp(results->labels[i], label) == 0)
			return true;
	}
	return false;
}

/* The file's name without its ending; if that is taken or unfit, a number behind it. */
static char *label_of(const struct results *results, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *label = strdup(slash ? slash + 1 : path);
	size_t nr_bytes = label ? strlen(label) : 0;

	if (label && nr_bytes > 5 && strcmp(label + nr_bytes - 5, ".json") == 0)
		label[nr_bytes - 5] = '\0';
	for (size_t number = results->nr_results + 1;
	     label && (is_label_taken(results, label) || !text_is_printable(label)); number++) {
		const char *stem = text_is_printable(label) ? label : "result";
		char *numbered;

		if (asprintf(&numbered, "%s#%zu", stem, number) < 0)
			numbered = NULL;
		free(label);
		label = numbered;
	}
	return label;
}

static int read_results(const struct request *request, struct results *results)
{
	struct report_error error;

	for (size_t i = 0; i < request->nr_paths; i++) {
		struct bench_result *result;
		char *label;
		int ret = result_read(request->paths[i], &result, &error);

		if (ret) {
			refuse("%s", error.text);
			return ret;
		}
		label = label_of(results, request->paths[i]);
		if (!label) {
			result_destroy(result);
			refuse("%s", strerror(ENOMEM));
			return -ENOMEM;
		}
		results->results[i] = result;
		results->labels[i] = label;
		results->runs[i] = (struct run){ label, result };
		results->nr_results++;
	}
	return 0;
}

/* Into memory first: a result that turns out to be wrong leaves no half a report. */
static int render(const struct request *request, const struct comparison *comparison)
{
	struct report_error error;
	char *text = NULL;
	size_t nr_bytes;
	FILE *out = open_memstream(&text, &nr_bytes);
	int ret = -ENOMEM;

	if (out) {
		ret = request->renderer->render(comparison, &request->render, out, &error);
		if (fclose(out) && !ret)
			ret = -ENOMEM;
	}
	if (ret)
		refuse("%s", ret == -EINVAL ? error.text : strerror(-ret));
	else if (fwrite(text, 1, nr_bytes, stdout) != nr_bytes || fflush(stdout)) {
		refuse("cannot write to standard output: %s", strerror(errno));
		ret = -EIO;
	}
	free(text);
	return ret;
}

static int compare(const struct request *request, const struct results *results)
{
	struct comparison *comparison;
	struct report_error error;
	int ret;

	ret = comparison_create(results->runs, results->nr_results, &request->comparison,
				&comparison, &error);
	if (ret) {
		refuse("%s", ret == -EINVAL ? error.text : strerror(-ret));
		return ret;
	}
	ret = render(request, comparison);
	comparison_destroy(comparison);
	return ret;
}

int compare_main(int argc, char **argv)
{
	struct request request = {
		.comparison.effect_percent = VERDICT_DEFAULT_EFFECT_PERCENT,
		.render.nr_columns = terminal_columns(),
	};
	struct results results = { .nr_results = 0 };
	int ret;

	ret = parse_arguments(argc, argv, &request);
	if (ret)
		return EXIT_WRONG_INPUT;
	ret = read_results(&request, &results);
	if (ret) {
		results_fini(&results);
		return ret == -ENOMEM ? EXIT_FAILURE : EXIT_WRONG_INPUT;
	}
	ret = compare(&request, &results);
	results_fini(&results);
	if (ret == -EINVAL)
		return EXIT_WRONG_INPUT;
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
