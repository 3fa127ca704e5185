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
	const struct plan *plan;
	const struct machine *machine;
	const struct run_outcome *outcome;
	double others;     /* part of the machine that others used meanwhile */
	const char *notes; /* more lines for the result's notes, or NULL */
	char *const *argv; /* repeats the run but for the seed; NULL-terminated */
};

/**
 * output_result - the whole result
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
 * output_files - write what --json, --csv and --save ask for
 * @output: as above
 * @error:  on failure one line
 *
 * Return: 0; a negative errno.
 */
int output_files(const struct output *output, struct report_error *error);

#endif
