/* SPDX-License-Identifier: MIT */
/*
 * The command: finds the verb and hands over to it.
 *
 * Nothing of the library is called here: run-program must not. A verb of the lab is a program of
 * its own, umemcg-bench, found beside this one or in $PATH.
 */
#include <errno.h>
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umemcg.h"
#include "verb.h"

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "run", verb_run },
	{ "ls", verb_ls },
	{ "get", verb_get },
	{ "set", verb_set },
	{ "rm", verb_rm },
	{ "ps", verb_ps },
	{ "events", verb_events },
	{ "bench", verb_lab },
	{ "compare", verb_lab },
	/* For the command itself, and for shells; nobody is told of them. */
	{ "run-program", verb_run_program },
	{ "complete", verb_complete },
};

#define NR_VERBS        (sizeof(verbs) / sizeof(verbs[0]))
#define NR_HIDDEN_VERBS 2

static const char doc[] =
	"Memory groups for user space, and what memory accounting costs.\n"
	"\n"
	"Verbs:\n"
	"  run        run a program in a group with a limit\n"
	"  ls         print groups, and what they hold\n"
	"  get        print control files of a group\n"
	"  set        write control files of a group\n"
	"  rm         remove a group, or a tree\n"
	"  ps         print the processes of a tree\n"
	"  events     print what happened at limits, or what happens\n"
	"  bench      measure the price of accounting, libumemcg's and the kernel's\n"
	"  compare    judge results of bench, and print them as tables\v"
	"`umemcg VERB --help' explains a verb.\n"
	"\n"
	"Examples:\n"
	"  umemcg run --max 300M -- python3 script.py\n"
	"      Give a program and all it starts 300 MiB; what does not fit fails in it.\n"
	"  umemcg ls\n"
	"      Print who uses how much.\n"
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
	for (size_t i = 0; i < NR_VERBS - NR_HIDDEN_VERBS; i++)
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
	const struct verb *verb = NULL;
	int index = 1, error;

	/* Without argp, which allocates: run-program may have a limit under which nothing fits. */
	if (argc > 1 && argv[1][0] != '-')
		verb = find_verb(argv[1]);
	if (verb)
		return verb->run(argc - 1, argv + 1);

	/* argp's own words take two lines, so that it is told to keep quiet. */
	error = argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_HELP, &index,
			   &request);
	if (error == ENOMEM) {
		fputs("umemcg: no memory is left\n", stderr);
		return EXIT_FAILURE;
	}
	if (error)
		return refuse("unknown option", argv[index > 1 ? index - 1 : 1]);
	if (!request.verb_index)
		return refuse("no verb", NULL);
	verb = find_verb(argv[request.verb_index]);
	if (!verb)
		return refuse("unknown verb", argv[request.verb_index]);
	return verb->run(argc - request.verb_index, argv + request.verb_index);
}
