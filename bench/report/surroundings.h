/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands around the tables of a text report: whence they come, and how to read them. */
#ifndef UMEMCG_BENCH_REPORT_SURROUNDINGS_H
#define UMEMCG_BENCH_REPORT_SURROUNDINGS_H

#include "report/direction.h"
#include "report/renderer.h"

/** surroundings_head - the results, one by one: machine, kernel, time; and warnings */
void surroundings_head(const struct comparison *comparison, const struct render_options *options,
		       FILE *out);

/** surroundings_skipped - what was not measured, and why */
void surroundings_skipped(const struct comparison *comparison, const struct render_options *options,
			  FILE *out);

/** surroundings_foot - what was not measured and, unless plain, how to read the tables */
void surroundings_foot(const struct comparison *comparison, const struct render_options *options,
		       enum direction direction, FILE *out);

/**
 * surroundings_target - a line about the target and meter of a table
 * @comparison: the report
 * @table:      that follows; the line is printed where target or meter change
 * @options:    plain prints it only if the report has several of them
 * @out:        where to
 */
void surroundings_target(const struct comparison *comparison, const struct table *table,
			 const struct render_options *options, FILE *out);

/* Room for surroundings_verdict(). */
#define SURROUNDINGS_VERDICT_BYTES 1600

/**
 * surroundings_verdict - "costs   [+0.80,+13.4] noise 0.52"
 * @cell:      that is compared with something
 * @direction: of the report
 * @text:      SURROUNDINGS_VERDICT_BYTES
 *
 * Return: @text.
 */
const char *surroundings_verdict(const struct cell *cell, enum direction direction, char *text);

/**
 * surroundings_verdicts - a line for each comparison of a table, with what would make it clear
 * @comparison: the report
 * @table:      of it
 * @options:    where lines would be too long, the row's name goes above them
 * @direction:  of the report
 * @out:        where to
 */
void surroundings_verdicts(const struct comparison *comparison, const struct table *table,
			   const struct render_options *options, enum direction direction,
			   FILE *out);

/** surroundings_runs - "about 40 more runs would tell" */
const char *surroundings_runs(const struct cell *cell, char *text, size_t nr_bytes);

/** surroundings_wrap - text in lines of at most @nr_columns, broken at spaces; 0 for 80 */
void surroundings_wrap(FILE *out, const char *text, size_t nr_columns);

#endif
