/* SPDX-License-Identifier: MIT */
/* ps: the processes of a tree. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "json.h"
#include "place.h"
#include "size_text.h"
#include "table.h"
#include "verb.h"

struct ps {
	struct arguments_given given;
	struct table table;
	json_t *processes; /* array */
};

static int add_row(struct ps *ps, const struct umemcg_process *process)
{
	const uint64_t sizes[] = { process->nr_bytes, process->nr_bytes_image,
				   process->nr_bytes_peak, process->nr_bytes_max };
	char pid[16], text[SIZE_TEXT_BYTES];
	const char *note = "";
	int error;

	if (process->flags & UMEMCG_PROCESS_SUPERVISED)
		note = "supervised";
	if (process->flags & UMEMCG_PROCESS_STALLED)
		note = "stopped";
	snprintf(pid, sizeof(pid), "%d", (int)process->pid);
	error = table_add(&ps->table, pid);
	error = error ? error : table_add(&ps->table, process->command);
	error = error ? error : table_add(&ps->table, process->group);
	error = error ? error : table_add(&ps->table, note);
	for (unsigned int i = 0; i < 4 && !error; i++)
		error = table_add(&ps->table, size_text(sizes[i], ps->given.is_exact, text));
	return error;
}

static int add_json(struct ps *ps, const struct umemcg_process *process)
{
	json_t *json = json_pack(
		"{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "pid", (int)process->pid,
		"command", json_text(process->command), "group", json_text(process->group),
		"charged", json_size(process->nr_bytes), "image",
		json_size(process->nr_bytes_image), "peak", json_size(process->nr_bytes_peak),
		"max", json_size(process->nr_bytes_max), "stack",
		json_size(process->nr_bytes_stack), "anon", json_size(process->nr_bytes_anon),
		"supervised", !!(process->flags & UMEMCG_PROCESS_SUPERVISED), "stalled",
		!!(process->flags & UMEMCG_PROCESS_STALLED));

	return json_array_append_new(ps->processes, json) ? -ENOMEM : 0;
}

static int list_process(const struct umemcg_process *process, void *arg)
{
	struct ps *ps = arg;

	return ps->given.prints_json ? add_json(ps, process) : add_row(ps, process);
}

static const struct argp_option options[] = {
	ARGUMENTS_OPTION_TREE,
	{ "json", ARGUMENTS_KEY_JSON, NULL, 0, "Print JSON", 0 },
	{ "bytes", ARGUMENTS_KEY_BYTES, NULL, 0, "Print all digits of sizes", 0 },
	ARGUMENTS_OPTION_HELP,
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = arguments_parse_given,
	.args_doc = "[PATH]",
	.doc = "Print the processes of a group and of the groups below it: what each is charged "
	       "itself, the image it shares with others since a fork, and its peak.\v"
	       "Examples:\n"
	       "  umemcg ps\n"
	       "      All processes of the default tree.\n"
	       "  umemcg ps --bytes /web\n"
	       "      Those of a group, to the byte.",
};

int verb_ps(int argc, char **argv)
{
	struct ps ps = { .table = { .names = { "PID", "COMMAND", "GROUP", "NOTE", "CHARGED",
					       "IMAGE", "PEAK", "MAX" },
				    .nr_text = 4 } };
	struct place place;
	int status;
	int error;

	if (arguments_parse(&argp, argc, argv, &ps))
		return EXIT_WRONG_INPUT;
	status = place_enter(&place, "ps", ps.given.tree_name, ps.given.path);
	if (status)
		return status;
	ps.processes = json_array();
	error = umemcg_tree_walk_processes(place.tree, place.path, list_process, &ps);
	if (error) {
		status = place_complain_group(&place, place.path, error);
	} else if (ps.given.prints_json) {
		status = json_print(
			json_pack("{s:s, s:O}", "tree", place.tree_name, "processes", ps.processes),
			stdout, false, "ps");
	} else {
		table_print(&ps.table);
	}
	table_fini(&ps.table);
	json_decref(ps.processes);
	place_close(&place);
	return status;
}
