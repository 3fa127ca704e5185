/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of making a comparison, in the order in which they happen. */
#ifndef UMEMCG_BENCH_REPORT_TABLES_H
#define UMEMCG_BENCH_REPORT_TABLES_H

#include "report/comparison.h"

/**
 * tables_create - sort the series of all runs into tables
 * @comparison: with its runs; gets tables, rows, columns and the series of cells
 * @error:      on -EINVAL one line
 *
 * Rows are in the order of the metrics, then of the parameters; columns in the
 * order of the runs, the base first, the control last.
 *
 * Return: 0; -EINVAL for a series that a run has twice; -ENOMEM.
 */
int tables_create(struct comparison *comparison, struct report_error *error);

/** tables_destroy - undo tables_create(), also a half done one */
void tables_destroy(struct comparison *comparison);

/**
 * tables_check - may these runs be compared?
 * @comparison: after tables_create()
 * @error:      on -EINVAL one line that says what differs
 *
 * Return: 0; -EINVAL.
 */
int tables_check(const struct comparison *comparison, struct report_error *error);

/**
 * tables_name_rows - give each row its name
 * @comparison: after tables_check()
 *
 * A row is called after its metric, its workers, and the parameters in which
 * it differs from other rows of the metric.
 *
 * Return: 0; -ENOMEM.
 */
int tables_name_rows(struct comparison *comparison);

/** tables_measure_times - fill in the times of every column; 0 or -ENOMEM */
int tables_measure_times(struct comparison *comparison);

#endif
