/* SPDX-License-Identifier: MIT */
/*
 * The command: finds the verb and hands over to it.
 *
 * A verb of the lab is a program of its own, umemcg-bench, found beside this one or in $PATH.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umemcg.h"
#include "verb.h"

#define EXIT_WRONG_INPUT 2

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "bench", verb_lab },
	{ "compare", verb_lab },
};

#define NR_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const char doc[] =
	"Memory groups for user space, and what memory accounting costs.\n"
	"\n"
	"Verbs:\n"
	"  bench      measure the price of accounting, libumemcg's and the kernel's\n"
	"  compare    judge results of bench, and print them as tables\v"
	"`umemcg VERB --help' explains a verb.\n"
	"\n"
	"Examples:\n"
	"  umemcg bench\n"
	"      Measure what can be measured here in a minute, and print the tables.\n"
	"  umemcg bench -t lib,kernel -w fork,pft --json result.json\n"
	"      Measure two workloads under both controllers, and keep the result.\n"
	"  umemcg compare --format mmtests result.json\n"
	"      Print a result again, in another format.";

static const struct argp_option options[] = {
	{ "help", 'h', NULL, 0, "Print this help, and exit", -1 },
	{ "version", 'V', NULL, 0, "Print the version, and exit", -1 },
	{ 0 },
};

/* Where the verb stands in argv; what is behind it belongs to the verb. */
struct request {
	int verb_index;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct request *request = state->input;

	(void)argument;
	switch (key) {
	case 'h':
		argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP, state->name);
		exit(EXIT_SUCCESS);
	case 'V':
		printf("umemcg %s\n", umemcg_version());
		exit(EXIT_SUCCESS);
	case ARGP_KEY_ARG:
		request->verb_index = state->next - 1;
		state->next = state->argc;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_verbs(FILE *stream)
{
	for (size_t i = 0; i < NR_VERBS; i++)
		fprintf(stream, "%s%s", i ? ", " : "", verbs[i].name);
}

/* One line: what was given, and what would be accepted. */
static int refuse(const char *what, const char *given)
{
	if (given)
		fprintf(stderr, "umemcg: %s \"%s\"; known verbs: ", what, given);
	else
		fprintf(stderr, "umemcg: %s; known verbs: ", what);
	print_verbs(stderr);
	fputs("; options: --help, --version\n", stderr);
	return EXIT_WRONG_INPUT;
}

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < NR_VERBS; i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "VERB [ARGUMENT...]",
		.doc = doc,
	};
	struct request request = { 0 };
	const struct verb *verb;
	int index = 1;

	/* argp's own words take two lines, so that it is told to keep quiet. */
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_HELP, &index,
		       &request))
		return refuse("unknown option", argv[index > 1 ? index - 1 : 1]);
	if (!request.verb_index)
		return refuse("no verb", NULL);
	verb = find_verb(argv[request.verb_index]);
	if (!verb)
		return refuse("unknown verb", argv[request.verb_index]);
	return verb->run(argc - request.verb_index, argv + request.verb_index);
}
