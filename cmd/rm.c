/* SPDX-License-Identifier: MIT */
/* rm: remove a group, or a tree in which nobody lives. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "place.h"
#include "verb.h"

struct rm {
	struct arguments_given given;
	bool is_recursive;
	char **paths; /* parents before children */
	size_t nr_paths;
};

static int remember(const char *path, void *arg)
{
	struct rm *rm = arg;
	char **paths = reallocarray(rm->paths, rm->nr_paths + 1, sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	rm->paths = paths;
	paths[rm->nr_paths] = strdup(path);
	return paths[rm->nr_paths++] ? 0 : -ENOMEM;
}

/* A group that somebody else has removed meanwhile is as good as removed here. */
static int remove_all(struct rm *rm, struct place *place)
{
	int error = umemcg_tree_walk(place->tree, place->path, remember, rm);

	if (error)
		return place_complain_group(place, place->path, error);
	for (size_t i = rm->nr_paths; i--;) {
		error = umemcg_tree_destroy(place->tree, rm->paths[i]);
		if (error && error != -ENOENT)
			return place_complain_group(place, rm->paths[i], error);
	}
	return 0;
}

static int remove_groups(struct rm *rm, struct place *place)
{
	int status = place_open(place, false);

	if (status)
		return status;
	if (rm->is_recursive) {
		status = remove_all(rm, place);
	} else {
		int error = umemcg_tree_destroy(place->tree, place->path);

		status = error ? place_complain_group(place, place->path, error) : 0;
	}
	place_close(place);
	return status;
}

static int remove_tree(struct place *place)
{
	int error = umemcg_tree_unlink(place->tree_name);

	return error ? place_complain_tree(place, error) : 0;
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
	struct rm *rm = state->input;

	switch (key) {
	case 'r':
		rm->is_recursive = true;
		return 0;
	case ARGP_KEY_END:
		return arguments_need("rm", "the PATH of a group, or / for a whole tree",
				      rm->given.path);
	default:
		return arguments_parse_given(key, argument, state);
	}
}

static const struct argp_option options[] = {
	ARGUMENTS_OPTION_TREE,
	{ "recursive", 'r', NULL, 0, "The groups below it, too", 0 },
	ARGUMENTS_OPTION_HELP,
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse_key,
	.args_doc = "PATH",
	.doc = "Remove a group in which no process lives; / removes the whole tree.\v"
	       "Examples:\n"
	       "  umemcg rm /web/old\n"
	       "  umemcg rm -r /web\n"
	       "      A group and all below it.\n"
	       "  umemcg rm --tree build /\n"
	       "      A tree, with all its groups.",
};

int verb_rm(int argc, char **argv)
{
	struct rm rm = { 0 };
	struct place place;
	int status;

	if (arguments_parse(&argp, argc, argv, &rm))
		return EXIT_WRONG_INPUT;
	status = place_init(&place, "rm", rm.given.tree_name, rm.given.path);
	if (!status)
		status = strcmp(place.path, "/") ? remove_groups(&rm, &place) : remove_tree(&place);
	for (size_t i = 0; i < rm.nr_paths; i++)
		free(rm.paths[i]);
	free(rm.paths);
	return status;
}
