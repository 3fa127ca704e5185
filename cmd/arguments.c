/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"

/* From here on keys are no options, but argp's own events. */
#define KEYS_OF_ARGP 0x1000000

/* What a verb's own parser and input are hidden behind, so that help is answered for all. */
struct arguments {
	const struct argp *argp;
	void *input;
	bool was_refused; /* by the verb's parser, which has said why */
	int next;         /* word behind what was understood; argp does not tell where it stopped */
};

__attribute__((format(printf, 2, 3))) error_t arguments_refuse(const char *verb, const char *format,
							       ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "umemcg %s: ", verb);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	return EINVAL;
}

error_t arguments_need(const char *verb, const char *what, const void *given)
{
	return given ? 0
		     : arguments_refuse(verb, "%s is needed; `umemcg %s --help' explains", what,
					verb);
}

error_t arguments_parse_given(int key, char *argument, struct argp_state *state)
{
	struct arguments_given *given = state->input;

	switch (key) {
	case ARGUMENTS_KEY_TREE:
		given->tree_name = argument;
		return 0;
	case ARGUMENTS_KEY_JSON:
		given->prints_json = true;
		return 0;
	case ARGUMENTS_KEY_BYTES:
		given->is_exact = true;
		return 0;
	case ARGP_KEY_ARG:
		if (given->path)
			return arguments_refuse(state->argv[0], "\"%s\": one PATH is accepted",
						argument);
		given->path = argument;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct argp_state verb_state = *state;
	error_t error;

	if (key == 'h') {
		char name[64];

		/* "Usage: umemcg VERB", though the process has only the verb in argv[0]. */
		snprintf(name, sizeof(name), "umemcg %s", state->argv[0]);
		argp_help(arguments->argp, stdout, ARGP_HELP_STD_HELP, name);
		exit(EXIT_SUCCESS);
	}
	verb_state.input = arguments->input;
	error = arguments->argp->parser(key, argument, &verb_state);
	/* A verb whose options end with its first argument moves on to the end. */
	state->next = verb_state.next;
	if (key < KEYS_OF_ARGP)
		arguments->next = state->next;
	if (error && error != ARGP_ERR_UNKNOWN)
		arguments->was_refused = true;
	return error;
}

static const struct argp_option *find_option(const struct argp *argp, const char *word)
{
	const struct argp_option *option;
	size_t length;

	if (word[0] != '-' || !word[1])
		return NULL;
	length = strcspn(word + 2, "=");
	for (option = argp->options; option->name || option->key || option->doc; option++) {
		if (word[1] != '-' && option->key > 0 && option->key < 256 &&
		    option->key == word[1])
			return option;
		if (word[1] == '-' && length && option->name &&
		    !strncmp(option->name, word + 2, length))
			return option;
	}
	return NULL;
}

static bool needs_argument(const struct argp_option *option)
{
	return option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

static int refuse_option(const struct argp *argp, const char *word, char **argv)
{
	const struct argp_option *option = find_option(argp, word);
	const char *separator = "";

	if (option && needs_argument(option))
		return arguments_refuse(argv[0], "%s needs an argument: %s", word, option->arg);
	if (option && strchr(word, '='))
		return arguments_refuse(argv[0], "%s: --%s takes no argument", word, option->name);
	fprintf(stderr, "umemcg %s: unknown option \"%s\"; options: ", argv[0], word);
	for (option = argp->options; option->name || option->key || option->doc; option++) {
		if (!option->name || option->flags & OPTION_HIDDEN)
			continue;
		fprintf(stderr, "%s--%s", separator, option->name);
		separator = ", ";
	}
	fputc('\n', stderr);
	return EINVAL;
}

int arguments_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	struct arguments arguments = { .argp = argp, .input = input };
	struct argp answering = *argp;
	error_t error;

	answering.parser = parse_key;
	error = argp_parse(&answering, argc, argv, ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_HELP,
			   NULL, &arguments);
	if (error == ENOMEM)
		return arguments_refuse(argv[0], "no memory is left");
	if (error && !arguments.was_refused)
		refuse_option(argp, argv[arguments.next ? arguments.next : 1], argv);
	return error;
}
