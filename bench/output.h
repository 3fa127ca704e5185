/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run leaves: the result, its tables, and files of both. */
#ifndef BENCH_OUTPUT_H
#define BENCH_OUTPUT_H

#include <stdio.h>

#include "machine.h"
#include "plan.h"
#include "report/result.h"
#include "run.h"

/* A run that is over. */
struct output {
	const struct bench_options *options;
	const struct machine *machine;
	char *const *argv; /* repeats the run but for the seed; NULL-terminated */

	/* Of the exact meter: its result. The rest is then not looked at. */
	const struct bench_result *exact;

	const struct plan *plan;
	const struct run_outcome *outcome;
	double others;     /* part of the machine that others used meanwhile */
	const char *notes; /* more lines for the result's notes, or NULL */
};

/**
 * output_result - the whole result of a run of the time meter
 * @output:     as above
 * @ret_result: for result_destroy()
 *
 * Return: 0; -ENOMEM.
 */
int output_result(const struct output *output, struct bench_result **ret_result);

/**
 * output_tables - print the tables, each workload's in the layout of its seed
 * @output: as above
 * @out:    where to
 * @error:  on failure one line
 *
 * Return: 0; a negative errno.
 */
int output_tables(const struct output *output, FILE *out, struct report_error *error);

/**
 * output_files - write what --json, --csv, --html and --save ask for
 * @output: as above
 * @error:  on failure one line
 *
 * Return: 0; a negative errno.
 */
int output_files(const struct output *output, struct report_error *error);

/** output_complain - a line on standard error */
void output_complain(const char *what);

/**
 * output_finish - after printing: look after standard output, then write the files
 * @output:  as above
 * @printed: what printing returned: 0 or a negative errno
 * @error:   then its line, or ""
 *
 * Return: as output_publish().
 */
int output_finish(const struct output *output, int printed, struct report_error *error);

/**
 * output_publish - tables on standard output and the files; both even if one of them fails
 *
 * Return: 0; 1, and it was said on standard error what failed.
 */
int output_publish(const struct output *output);

#endif
