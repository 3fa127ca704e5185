/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "control_text.h"
#include "run_summary.h"
#include "run_summary_print.h"

/* The first samples follow each other fast, for programs that end soon. */
#define INTERVAL_MIN_MS 1
#define INTERVAL_MAX_MS 100

/* A sample of many or large processes takes its time; it gets a twentieth of a processor. */
#define COST_FACTOR 20

int run_summary_init(struct run_summary *summary, const struct place *place, char *const *command,
		     const char *file_name)
{
	*summary = (struct run_summary){ .place = place,
					 .command = command,
					 .start_ns = clock_ns(CLOCK_MONOTONIC),
					 .interval_ms = INTERVAL_MIN_MS };
	if (!file_name)
		return 0;
	summary->file = fopen(file_name, "we");
	return summary->file ? 0 : -errno;
}

static double seconds_since(clockid_t clock, uint64_t start_ns)
{
	return (double)(clock_ns(clock) - start_ns) / 1e9;
}

static int add_resident(const struct umemcg_process *process, void *arg)
{
	run_resident_add(arg, process->pid);
	return 0;
}

int run_summary_sample(struct run_summary *summary)
{
	const struct place *place = summary->place;
	struct run_resident resident = { 0 };
	struct umemcg_tree_stat stat;
	uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int cost_ms;

	umemcg_tree_walk_processes(place->tree, place->path, add_resident, &resident);
	/* Behind the walk, which takes its time while they grow. */
	if (umemcg_tree_get_stat(place->tree, place->path, &stat))
		return INTERVAL_MAX_MS;
	if (!summary->nr_samples || stat.nr_bytes_current > summary->largest.nr_bytes_current)
		summary->largest = stat;
	if (run_resident_sum(&resident) > run_resident_sum(&summary->resident)) {
		summary->resident = resident;
		summary->nr_bytes_charged = stat.nr_bytes_current;
	}
	summary->nr_samples++;
	summary->interval_ms *= 2;
	if (summary->interval_ms > INTERVAL_MAX_MS)
		summary->interval_ms = INTERVAL_MAX_MS;
	cost_ms = (int)(seconds_since(CLOCK_THREAD_CPUTIME_ID, start_ns) * 1000 * COST_FACTOR);
	return cost_ms > summary->interval_ms ? cost_ms : summary->interval_ms;
}

void run_summary_end(struct run_summary *summary, int status)
{
	const struct place *place = summary->place;

	summary->seconds = seconds_since(CLOCK_MONOTONIC, summary->start_ns);
	summary->status = status;
	umemcg_tree_get_stat(place->tree, place->path, &summary->last);
	if (control_text_read(place, place->path, "memory.events", &summary->events))
		summary->events = NULL;
	if (summary->file) {
		run_summary_print_json(summary);
		fclose(summary->file);
	} else {
		run_summary_print(summary);
	}
	free(summary->events);
}
