/* SPDX-License-Identifier: MIT */
/* get: control files of a group. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "control_text.h"
#include "place.h"
#include "verb.h"

struct get {
	struct arguments_given given;
	char **files;
	int nr_files;
};

/* The name stands in front of every line, so that each can be looked for. */
static void print_named(const char *file, char *text)
{
	char *rest = text;
	char *line;

	do {
		line = strsep(&rest, "\n");
		printf("%s:%s%s\n", file, *line ? " " : "", line);
	} while (rest);
}

static int print_file(const struct place *place, const char *file, bool is_named, bool is_asked)
{
	char *text;
	int error = control_text_read(place, place->path, file, &text);

	/* Of all files those are left out that can only be written. */
	if (error == -EACCES && !is_asked)
		return 0;
	if (error)
		return control_text_complain(place, file, "", error);
	if (is_named)
		print_named(file, text);
	else
		puts(text);
	free(text);
	return 0;
}

static int print_all(const struct place *place)
{
	const char *file;
	int status = 0;

	for (unsigned int i = 0; !status && (file = umemcg_tree_control_file(i)); i++)
		status = print_file(place, file, true, false);
	return status;
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
	struct get *get = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (!get->given.path)
			break;
		get->files[get->nr_files++] = argument;
		return 0;
	case ARGP_KEY_END:
		return arguments_need("get", "the PATH of a group", get->given.path);
	default:
		break;
	}
	return arguments_parse_given(key, argument, state);
}

static const struct argp_option options[] = {
	ARGUMENTS_OPTION_TREE,
	ARGUMENTS_OPTION_HELP,
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse_key,
	.args_doc = "PATH [FILE...]",
	.doc = "Print control files of a group. One that is named alone is printed as it is; of "
	       "several, or of all, each line has the name in front.\v"
	       "Examples:\n"
	       "  umemcg get /web\n"
	       "      All control files.\n"
	       "  umemcg get /web memory.current\n"
	       "      One number.\n"
	       "  umemcg get /web memory.current memory.max",
};

int verb_get(int argc, char **argv)
{
	struct get get = { .files = calloc((size_t)argc + 1, sizeof(char *)) };
	struct place place;
	int status;

	if (!get.files || arguments_parse(&argp, argc, argv, &get)) {
		free(get.files);
		return EXIT_WRONG_INPUT;
	}
	status = place_enter(&place, "get", get.given.tree_name, get.given.path);
	if (!status) {
		if (!get.nr_files)
			status = print_all(&place);
		for (int i = 0; !status && i < get.nr_files; i++)
			status = print_file(&place, get.files[i], get.nr_files > 1, true);
		place_close(&place);
	}
	free(get.files);
	return status;
}
