/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The unit in which a row is printed. */
#ifndef UMEMCG_BENCH_REPORT_UNITS_H
#define UMEMCG_BENCH_REPORT_UNITS_H

#include "report/comparison.h"

/**
 * units_scale - in which unit do two decimals of a row tell something?
 * @table:    the row's
 * @row:      with statistics
 * @ret_unit: the unit; a time whose largest mean is below one gets a smaller
 *            one, anything else keeps its own
 *
 * Return: the factor from the row's unit to that one.
 */
double units_scale(const struct table *table, const struct row *row, const char **ret_unit);

/** units_is_told - is the unit plain from the metric's name already, as in faults/sec? */
bool units_is_told(const struct row *row, const char *unit);

#endif
