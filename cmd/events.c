/* SPDX-License-Identifier: MIT */
/* events: how often something has happened in each group; or each as it happens. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arguments.h"
#include "control_text.h"
#include "json.h"
#include "place.h"
#include "report.h"
#include "table.h"
#include "verb.h"

/* How soon it is noticed that a tree is gone. */
#define LOOK_MS 500

struct events {
	struct arguments_given given;
	bool follows;
	struct place place;
	struct table table;
	char *names[TABLE_NR_COLUMNS]; /* of events, owned; columns behind the group's */
	unsigned int nr_names;
	json_t *groups; /* array */
};

/* The first group's events are the columns; all groups have the same, in the same order. */
static int add_row(struct events *events, const char *path, char *text)
{
	bool is_first = !events->nr_names;
	int error = table_add(&events->table, path);

	for (char *line; !error && (line = strsep(&text, "\n"));) {
		char *count = strchr(line, ' ');

		if (!count)
			continue;
		*count++ = '\0';
		if (is_first && events->nr_names < TABLE_NR_COLUMNS - 2) {
			char *name = strdup(line);

			if (!name)
				return -ENOMEM;
			events->names[events->nr_names++] = name;
			events->table.names[events->nr_names] = name;
		}
		error = table_add(&events->table, count);
	}
	return error;
}

static int add_json(struct events *events, const char *path, const char *text)
{
	json_t *group =
		json_pack("{s:o, s:o}", "path", json_text(path), "events", json_counts(text));

	return json_array_append_new(events->groups, group) ? -ENOMEM : 0;
}

static int count_group(const char *path, void *arg)
{
	struct events *events = arg;
	char *text;
	int error = control_text_read(&events->place, path, "memory.events", &text);

	if (error == -ENOENT)
		return 0; /* removed meanwhile */
	if (error)
		return error;
	error = events->given.prints_json ? add_json(events, path, text)
					  : add_row(events, path, text);
	free(text);
	return error;
}

static int count(struct events *events)
{
	int error = umemcg_tree_walk(events->place.tree, events->place.path, count_group, events);

	if (error)
		return place_complain_group(&events->place, events->place.path, error);
	if (events->given.prints_json)
		return json_print(json_pack("{s:s, s:O}", "tree", events->place.tree_name, "groups",
					    events->groups),
				  stdout, false, "events");
	table_print(&events->table);
	return 0;
}

static int print_report(const struct umemcg_report *report, bool prints_json)
{
	char line[REPORT_LINE_BYTES], when[32] = "";
	time_t now = time(NULL);
	struct tm broken_down;

	if (prints_json)
		return json_print(report_json(report), stdout, true, "events");
	report_format(report, line);
	if (localtime_r(&now, &broken_down))
		strftime(when, sizeof(when), "%H:%M:%S", &broken_down);
	printf("%s %s\n", when, line);
	return fflush(stdout) ? EXIT_FAILURE : 0;
}

/* Who looks on keeps a tree from being removed, so that the last one to leave has to do it. */
static bool tree_is_gone(const struct place *place)
{
	int error = umemcg_tree_unlink(place->tree_name);

	return !error || error == -ENOENT;
}

/* Until the tree is gone, or nobody reads any more. */
static int follow(struct events *events)
{
	uint64_t sequence = UINT64_MAX;
	struct umemcg_report report;
	int status = 0;

	while (!status) {
		int error = umemcg_tree_wait(events->place.tree, sequence, LOOK_MS, &report);

		if (error == -EINTR)
			continue;
		if (error == -ETIMEDOUT) {
			if (tree_is_gone(&events->place))
				break;
			continue;
		}
		if (error)
			return place_complain_tree(&events->place, error);
		sequence = report.sequence;
		if (place_is_below(report.group, events->place.path))
			status = print_report(&report, events->given.prints_json);
	}
	return status;
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
	struct events *events = state->input;

	switch (key) {
	case 'f':
		events->follows = true;
		return 0;
	default:
		return arguments_parse_given(key, argument, state);
	}
}

static const struct argp_option options[] = {
	ARGUMENTS_OPTION_TREE,
	{ "follow", 'f', NULL, 0, "Print each event as it happens, until the tree is gone", 0 },
	{ "json", ARGUMENTS_KEY_JSON, NULL, 0, "Print JSON; with --follow, an object a line", 0 },
	ARGUMENTS_OPTION_HELP,
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse_key,
	.args_doc = "[PATH]",
	.doc = "Print how often limits were met, by each group.\v"
	       "Examples:\n"
	       "  umemcg events\n"
	       "      The counts of the default tree.\n"
	       "  umemcg events --follow /web\n"
	       "      Who is refused what, as it happens.",
};

int verb_events(int argc, char **argv)
{
	struct events events = { .table = { .names = { "GROUP" }, .nr_text = 1 } };
	int status;

	if (arguments_parse(&argp, argc, argv, &events))
		return EXIT_WRONG_INPUT;
	status = place_enter(&events.place, "events", events.given.tree_name, events.given.path);
	if (status)
		return status;
	events.groups = json_array();
	status = events.follows ? follow(&events) : count(&events);
	json_decref(events.groups);
	table_fini(&events.table);
	for (unsigned int i = 0; i < events.nr_names; i++)
		free(events.names[i]);
	place_close(&events.place);
	return status;
}
