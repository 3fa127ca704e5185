/* SPDX-License-Identifier: MIT */
/* ls: the groups of one tree, or of all trees of the user. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "json.h"
#include "place.h"
#include "size_text.h"
#include "table.h"
#include "tree_names.h"
#include "verb.h"

struct ls {
	struct arguments_given given;
	struct place place; /* tree that is being listed */
	unsigned int level; /* of the topmost group that is shown */
	unsigned int nr_trees;
	int status; /* of a tree that could not be listed among others */
	struct table table;
	json_t *trees;  /* array */
	json_t *groups; /* array of the tree that is being listed */
};

static int add_size(struct ls *ls, uint64_t nr_bytes)
{
	char text[SIZE_TEXT_BYTES];

	return table_add(&ls->table, size_text(nr_bytes, ls->given.is_exact, text));
}

static int add_number(struct ls *ls, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, number);
	return table_add(&ls->table, text);
}

/* What a group is called below its parent, set in as deep as it lies. */
static int add_name(struct ls *ls, const char *path)
{
	unsigned int level = place_level(path) - ls->level;
	const char *name = level ? strrchr(path, '/') + 1 : path;
	char *text;
	int error;

	if (asprintf(&text, "%*s%s", (int)(2 * level), "", name) < 0)
		return -ENOMEM;
	error = table_add(&ls->table, text);
	free(text);
	return error;
}

static int add_row(struct ls *ls, const char *path, const struct umemcg_tree_stat *stat)
{
	int error = table_add(&ls->table, strcmp(path, ls->place.path) ? "" : ls->place.tree_name);

	error = error ? error : add_name(ls, path);
	error = error ? error : add_size(ls, stat->nr_bytes_current);
	error = error ? error : add_size(ls, stat->nr_bytes_peak);
	error = error ? error : add_size(ls, stat->nr_bytes_max);
	error = error ? error : add_number(ls, stat->nr_processes);
	return error ? error : add_number(ls, stat->nr_refused);
}

static int add_json(struct ls *ls, const char *path, const struct umemcg_tree_stat *stat)
{
	json_t *group = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I}",
		"path", json_text(path), "current", json_size(stat->nr_bytes_current), "peak",
		json_size(stat->nr_bytes_peak), "max", json_size(stat->nr_bytes_max), "high",
		json_size(stat->nr_bytes_high), "low", json_size(stat->nr_bytes_low), "min",
		json_size(stat->nr_bytes_min), "reserve", json_size(stat->nr_bytes_reserve),
		"image", json_size(stat->nr_bytes_image), "stack", json_size(stat->nr_bytes_stack),
		"anon", json_size(stat->nr_bytes_anon), "processes", (json_int_t)stat->nr_processes,
		"processes_ever", (json_int_t)stat->nr_processes_ever, "refused",
		(json_int_t)stat->nr_refused, "stalled", (json_int_t)stat->nr_stalled);

	return json_array_append_new(ls->groups, group) ? -ENOMEM : 0;
}

static int list_group(const char *path, void *arg)
{
	struct ls *ls = arg;
	struct umemcg_tree_stat stat;
	int error = umemcg_tree_get_stat(ls->place.tree, path, &stat);

	if (error == -ENOENT && strcmp(path, ls->place.path))
		return 0; /* removed meanwhile */
	if (error)
		return error;
	return ls->given.prints_json ? add_json(ls, path, &stat) : add_row(ls, path, &stat);
}

static int list_open_tree(struct ls *ls)
{
	int error;

	ls->level = place_level(ls->place.path);
	ls->groups = ls->given.prints_json ? json_array() : NULL;
	error = umemcg_tree_walk(ls->place.tree, ls->place.path, list_group, ls);
	if (error) {
		json_decref(ls->groups);
		return place_complain_group(&ls->place, ls->place.path, error);
	}
	ls->nr_trees++;
	if (ls->given.prints_json)
		json_array_append_new(
			ls->trees,
			json_pack("{s:s, s:o}", "name", ls->place.tree_name, "groups", ls->groups));
	return 0;
}

static int list_one(struct ls *ls)
{
	int status = place_enter(&ls->place, "ls", ls->given.tree_name, ls->given.path);

	if (status)
		return status;
	status = list_open_tree(ls);
	place_close(&ls->place);
	return status;
}

/* A tree that ends between being named and being opened is left out. */
static int list_named(const char *name, void *arg)
{
	struct ls *ls = arg;
	int status;
	int error;

	status = place_init(&ls->place, "ls", name, "/");
	if (status)
		return status;
	error = umemcg_tree_open(name, 0, &ls->place.tree);
	if (error == -ENOENT)
		return 0;
	/* What is wrong with one tree is said, and does not hide the others. */
	status = error ? place_complain_tree(&ls->place, error) : list_open_tree(ls);
	if (status)
		ls->status = status;
	place_close(&ls->place);
	return 0;
}

static int list(struct ls *ls)
{
	int error;

	if (ls->given.tree_name || ls->given.path)
		return list_one(ls);
	error = tree_names_walk(list_named, ls);
	if (!error)
		return ls->status;
	arguments_refuse("ls", "the trees cannot be listed: %s", strerror(-error));
	return EXIT_FAILURE;
}

static const struct argp_option options[] = {
	{ "tree", ARGUMENTS_KEY_TREE, "NAME", 0,
	  "Only this tree (default: all of yours; with PATH $UMEMCG_TREE, else \"default\")", 0 },
	{ "json", ARGUMENTS_KEY_JSON, NULL, 0, "Print JSON", 0 },
	{ "bytes", ARGUMENTS_KEY_BYTES, NULL, 0, "Print all digits of sizes", 0 },
	ARGUMENTS_OPTION_HELP,
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = arguments_parse_given,
	.args_doc = "[PATH]",
	.doc = "Print the groups of shared trees, and what they hold.\v"
	       "Examples:\n"
	       "  umemcg ls\n"
	       "      All trees.\n"
	       "  umemcg ls --tree default /web\n"
	       "      A group and what is below it.\n"
	       "  umemcg ls --json | jq '.trees[].groups[].current'\n"
	       "      Bytes, for a script.",
};

int verb_ls(int argc, char **argv)
{
	struct ls ls = { .table = { .names = { "TREE", "GROUP", "CURRENT", "PEAK", "MAX", "PROCS",
					       "REFUSED" },
				    .nr_text = 2 } };
	int status;

	if (arguments_parse(&argp, argc, argv, &ls))
		return EXIT_WRONG_INPUT;
	ls.trees = json_array();
	status = list(&ls);
	if (ls.given.prints_json && ls.nr_trees + !status)
		return json_print(json_pack("{s:o}", "trees", ls.trees), stdout, false, "ls") |
		       status;
	if (status == EXIT_SUCCESS && !ls.nr_trees)
		puts("No tree; `umemcg run' makes one.");
	table_print(&ls.table);
	table_fini(&ls.table);
	json_decref(ls.trees);
	return status;
}
