/* SPDX-License-Identifier: MIT */
/*
 * set: write control files of a group. Everything is read and tried beforehand, and what was
 * written is put back if something after it fails.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "control_text.h"
#include "limit.h"
#include "place.h"
#include "verb.h"

struct assignment {
	const char *file, *value;
	char *before; /* value that is put back; NULL: of a file that cannot be read */
};

struct set {
	struct arguments_given given;
	struct assignment *assignments;
	int nr_assignments;
};

static error_t parse_assignment(struct set *set, char *argument)
{
	struct assignment *assignment = &set->assignments[set->nr_assignments];
	char *equals = strchr(argument, '=');

	if (!equals || equals == argument)
		return arguments_refuse("set", "\"%s\": FILE=VALUE is accepted, as memory.max=300M",
					argument);
	*equals = '\0';
	for (int i = 0; i < set->nr_assignments; i++)
		if (!strcmp(set->assignments[i].file, argument))
			return arguments_refuse("set", "%s is there twice; once is accepted",
						argument);
	assignment->file = argument;
	assignment->value = equals + 1;
	set->nr_assignments++;
	return 0;
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
	struct set *set = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (!set->given.path)
			break;
		return parse_assignment(set, argument);
	case ARGP_KEY_END:
		return arguments_need("set", "a PATH and FILE=VALUE",
				      set->nr_assignments ? set->given.path : NULL);
	default:
		break;
	}
	return arguments_parse_given(key, argument, state);
}

/* Of files that a tree has and a group of this process has not, only writing tells. */
static int try_all(struct place *place, struct set *set)
{
	int status = 0;

	for (int i = 0; !status && i < set->nr_assignments; i++) {
		struct assignment *assignment = &set->assignments[i];
		int error = control_text_read(place, place->path, assignment->file,
					      &assignment->before);

		/* Only written: an order, not a setting. It is not given before it is meant. */
		if (error == -EACCES)
			continue;
		if (!error)
			error = limit_try(assignment->file, assignment->value);
		if (error && error != -EOPNOTSUPP &&
		    (error != -ENOENT || !control_text_is_file(assignment->file)))
			status = control_text_complain(place, assignment->file, assignment->value,
						       error);
	}
	return status;
}

/* Lowering max below usage is no fault: the limit is in force, and usage can only fall. */
static int write_one(const struct place *place, const struct assignment *assignment)
{
	int error =
		umemcg_tree_write(place->tree, place->path, assignment->file, assignment->value);

	if (error == -EBUSY) {
		arguments_refuse("set",
				 "warning: %s holds more than %s=%s; nothing more is "
				 "admitted until it holds less",
				 place->path, assignment->file, assignment->value);
		return 0;
	}
	return error ? control_text_complain(place, assignment->file, assignment->value, error) : 0;
}

static int write_all(const struct place *place, const struct set *set)
{
	for (int i = 0; i < set->nr_assignments; i++) {
		int status = write_one(place, &set->assignments[i]);

		if (!status)
			continue;
		while (i--)
			if (set->assignments[i].before)
				umemcg_tree_write(place->tree, place->path,
						  set->assignments[i].file,
						  set->assignments[i].before);
		return status;
	}
	return 0;
}

static const struct argp_option options[] = {
	ARGUMENTS_OPTION_TREE,
	ARGUMENTS_OPTION_HELP,
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse_key,
	.args_doc = "PATH FILE=VALUE...",
	.doc = "Write control files of a group: all of them, or none.\v"
	       "Files:\n"
	       "  memory.max, memory.high, memory.low, memory.min, memory.reserve\n"
	       "      Bytes, with at most one of K M G T P E behind them, or \"max\".\n"
	       "  memory.oom.policy (fail, kill), memory.oom.group (0, 1)\n"
	       "  memory.fork (share, copy)\n"
	       "  memory.reclaim\n"
	       "      Bytes to be given back now.\n"
	       "\n"
	       "Examples:\n"
	       "  umemcg set /web memory.max=300M\n"
	       "      Limit a group. If it holds more, a warning says so, and it gets no more.\n"
	       "  umemcg set /web memory.max=1G memory.high=800M memory.oom.policy=kill\n"
	       "  umemcg set /web memory.max=max\n"
	       "      No limit.",
};

int verb_set(int argc, char **argv)
{
	struct set set = { .assignments = calloc((size_t)argc + 1, sizeof(struct assignment)) };
	struct place place;
	int status;

	if (!set.assignments || arguments_parse(&argp, argc, argv, &set)) {
		free(set.assignments);
		return EXIT_WRONG_INPUT;
	}
	status = place_enter(&place, "set", set.given.tree_name, set.given.path);
	if (!status) {
		status = try_all(&place, &set);
		status = status ? status : write_all(&place, &set);
		place_close(&place);
	}
	for (int i = 0; i < set.nr_assignments; i++)
		free(set.assignments[i].before);
	free(set.assignments);
	return status;
}
