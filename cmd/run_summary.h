/* SPDX-License-Identifier: MIT */
/* What --summary tells: samples taken while the program runs, and counts at its end. */
#ifndef UMEMCG_CMD_RUN_SUMMARY_H
#define UMEMCG_CMD_RUN_SUMMARY_H

#include <stdio.h>

#include "place.h"
#include "run_resident.h"

struct run_summary {
	const struct place *place;
	char *const *command;
	FILE *file;        /* for JSON; NULL: words on standard error */
	uint64_t start_ns; /* of CLOCK_MONOTONIC */
	int interval_ms;   /* until the next sample */
	unsigned int nr_samples;
	struct umemcg_tree_stat largest; /* the sample with the largest current */
	struct run_resident resident;    /* the sample with the largest resident size */
	uint64_t nr_bytes_charged;       /* at that one */
	struct umemcg_tree_stat last;    /* when the program had ended */
	char *events;                    /* memory.events then, or NULL */
	int status;                      /* as of wait() */
	double seconds;
};

/** run_summary_init - @file_name: NULL: standard error; 0 or -errno if it cannot be written */
int run_summary_init(struct run_summary *summary, const struct place *place, char *const *command,
		     const char *file_name);

/** run_summary_sample - look at the group and its processes; milliseconds until the next sample */
int run_summary_sample(struct run_summary *summary);

/** run_summary_end - look once more, print all, and close the file */
void run_summary_end(struct run_summary *summary, int status);

#endif
