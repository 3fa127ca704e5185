/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "json.h"
#include "run_summary_print.h"
#include "size_text.h"

/* Of current: what is neither stacks nor mappings. */
static uint64_t nr_bytes_slab(const struct umemcg_tree_stat *stat)
{
	uint64_t others = stat->nr_bytes_stack + stat->nr_bytes_anon;

	return stat->nr_bytes_current > others ? stat->nr_bytes_current - others : 0;
}

/* Anonymous memory that is resident, and more than what is charged. */
static uint64_t nr_bytes_anon_unseen(const struct run_summary *summary)
{
	uint64_t resident = summary->resident.nr_bytes_anon;

	return resident > summary->nr_bytes_charged ? resident - summary->nr_bytes_charged : 0;
}

static void print_size(const char *before, uint64_t nr_bytes)
{
	char text[SIZE_TEXT_BYTES];

	fprintf(stderr, "%s%s", before, size_text(nr_bytes, false, text));
}

static void print_status(const struct run_summary *summary)
{
	fprintf(stderr, "umemcg: %s in %s of tree %s: ", summary->command[0], summary->place->path,
		summary->place->tree_name);
	if (WIFSIGNALED(summary->status))
		fprintf(stderr, "ended by SIG%s", sigabbrev_np(WTERMSIG(summary->status)) ?: "?");
	else
		fprintf(stderr, "exit status %d", WEXITSTATUS(summary->status));
	fprintf(stderr, ", %.2f s\n", summary->seconds);
}

static void print_samples(const struct run_summary *summary)
{
	const struct run_resident *resident = &summary->resident;

	if (!summary->nr_samples)
		return;
	print_size("umemcg:   kinds      objects ", nr_bytes_slab(&summary->largest));
	print_size(", stacks ", summary->largest.nr_bytes_stack);
	print_size(", mappings ", summary->largest.nr_bytes_anon);
	print_size(", at ", summary->largest.nr_bytes_current);
	fprintf(stderr, " (%u samples)\n", summary->nr_samples);
	print_size("umemcg:   resident   ", run_resident_sum(resident));
	print_size(" at most, while ", summary->nr_bytes_charged);
	fputs(" were charged\n", stderr);
	print_size("umemcg:   not seen   files ", resident->nr_bytes_file);
	print_size(", shared memory ", resident->nr_bytes_shmem);
	print_size(", anonymous ", nr_bytes_anon_unseen(summary));
	fputs(" of that\n", stderr);
}

/* Those that have happened. */
static void print_events(const struct run_summary *summary)
{
	char *text = summary->events ? strdup(summary->events) : NULL;
	char *rest = text;
	const char *separator = "";
	char *line;

	fputs("umemcg:   events     ", stderr);
	while (rest && (line = strsep(&rest, "\n"))) {
		char *count = strchr(line, ' ');

		if (!count || !strcmp(count, " 0"))
			continue;
		fprintf(stderr, "%s%s", separator, line);
		separator = ", ";
	}
	fputs(*separator ? "\n" : "none\n", stderr);
	free(text);
}

void run_summary_print(const struct run_summary *summary)
{
	const struct umemcg_tree_stat *last = &summary->last;

	print_status(summary);
	print_size("umemcg:   peak       ", last->nr_bytes_peak);
	print_size(" (max ", last->nr_bytes_max);
	if (last->nr_bytes_reserve)
		print_size(", reserve ", last->nr_bytes_reserve);
	fputs(")\n", stderr);
	print_samples(summary);
	print_events(summary);
	fprintf(stderr, "umemcg:   processes  %" PRIu32 "\n", last->nr_processes_ever);
	if (last->nr_processes)
		fprintf(stderr, "umemcg:   %s stays: %" PRIu32 " processes live in it\n",
			summary->place->path, last->nr_processes);
}

static json_t *command_json(char *const *command)
{
	json_t *words = json_array();

	for (; *command; command++)
		json_array_append_new(words, json_text(*command));
	return words;
}

static json_t *samples_json(const struct run_summary *summary)
{
	const struct umemcg_tree_stat *largest = &summary->largest;
	const struct run_resident *resident = &summary->resident;

	if (!summary->nr_samples)
		return json_null();
	return json_pack(
		"{s:I, s:{s:o, s:o, s:o, s:o}, s:{s:o, s:o, s:o, s:o}}", "count",
		(json_int_t)summary->nr_samples, "largest_charged", "current",
		json_size(largest->nr_bytes_current), "slab", json_size(nr_bytes_slab(largest)),
		"stack", json_size(largest->nr_bytes_stack), "anon",
		json_size(largest->nr_bytes_anon), "largest_resident", "charged",
		json_size(summary->nr_bytes_charged), "anon", json_size(resident->nr_bytes_anon),
		"shmem", json_size(resident->nr_bytes_shmem), "file",
		json_size(resident->nr_bytes_file));
}

static json_t *not_seen_json(const struct run_summary *summary)
{
	return json_pack("{s:o, s:o, s:o}", "anon", json_size(nr_bytes_anon_unseen(summary)),
			 "shmem", json_size(summary->resident.nr_bytes_shmem), "file",
			 json_size(summary->resident.nr_bytes_file));
}

void run_summary_print_json(const struct run_summary *summary)
{
	const struct umemcg_tree_stat *last = &summary->last;
	int status = summary->status;
	json_t *json = json_pack(
		"{s:o, s:s, s:o, s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o}", "command",
		command_json(summary->command), "tree", summary->place->tree_name, "group",
		json_text(summary->place->path), "exit_status",
		WIFEXITED(status) ? json_integer(WEXITSTATUS(status)) : json_null(), "signal",
		WIFSIGNALED(status) ? json_integer(WTERMSIG(status)) : json_null(), "seconds",
		summary->seconds, "peak", json_size(last->nr_bytes_peak), "max",
		json_size(last->nr_bytes_max), "reserve", json_size(last->nr_bytes_reserve),
		"samples", samples_json(summary), "events", json_counts(summary->events),
		"processes", (json_int_t)last->nr_processes_ever, "processes_left",
		(json_int_t)last->nr_processes, "not_seen", not_seen_json(summary));

	json_print(json, summary->file, false, "run");
}
