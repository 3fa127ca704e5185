/* SPDX-License-Identifier: MIT */
/*
 * The command line of a verb, read by argp, whose own complaints are kept quiet: wrong input gets
 * one line that names it and says what would be accepted.
 */
#ifndef UMEMCG_CMD_ARGUMENTS_H
#define UMEMCG_CMD_ARGUMENTS_H

#include <argp.h>
#include <stdbool.h>

/** Keys of long options, above any letter. */
enum arguments_key {
	ARGUMENTS_KEY_TREE = 256,
	ARGUMENTS_KEY_JSON,
	ARGUMENTS_KEY_BYTES,
	ARGUMENTS_KEY_MAX,
	ARGUMENTS_KEY_MAX_PROCESS,
	ARGUMENTS_KEY_HIGH,
	ARGUMENTS_KEY_MIN,
	ARGUMENTS_KEY_LOW,
	ARGUMENTS_KEY_OOM,
	ARGUMENTS_KEY_RESERVE,
	ARGUMENTS_KEY_GROUP,
	ARGUMENTS_KEY_STRICT,
	ARGUMENTS_KEY_SUMMARY,
	ARGUMENTS_KEY_PID,
};

/* Rows that the tables of several verbs share. */
#define ARGUMENTS_OPTION_HELP                                                                      \
	{                                                                                          \
		"help", 'h', NULL, 0, "Print this help, and exit", -1                              \
	}
#define ARGUMENTS_OPTION_TREE                                                                      \
	{                                                                                          \
		"tree", ARGUMENTS_KEY_TREE, "NAME", 0,                                             \
			"The tree (default: $UMEMCG_TREE, else \"default\")", 0                    \
	}

/**
 * arguments_parse - read a verb's command line
 * @argp: its options have ARGUMENTS_OPTION_HELP, which is answered here
 * @argv: argv[0] is the verb
 *
 * Return: 0; else something was wrong, and has been said on standard error.
 */
int arguments_parse(const struct argp *argp, int argc, char **argv, void *input);

/** struct arguments_given - what verbs are asked for alike */
struct arguments_given {
	const char *tree_name; /* NULL: none is named */
	const char *path;      /* as tree_name */
	bool prints_json;
	bool is_exact; /* sizes to the byte */
};

/**
 * arguments_parse_given - parse --tree, --json, --bytes and one PATH
 *
 * A parser of argp, for a verb itself or for what its own parser does not take. Its input is, or
 * begins with, a struct arguments_given.
 */
error_t arguments_parse_given(int key, char *argument, struct argp_state *state);

/**
 * arguments_refuse - say "umemcg VERB: ..." in a line on standard error
 *
 * Return: EINVAL, which a parser of argp returns in its turn.
 */
__attribute__((format(printf, 2, 3))) error_t arguments_refuse(const char *verb, const char *format,
							       ...);

/** arguments_need - refuse if there is none, with what is needed; 0 or EINVAL */
error_t arguments_need(const char *verb, const char *what, const void *given);

#endif
