/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The callers of the symbols that explain a difference. */
#ifndef UMEMCG_BENCH_REPORT_EXPLAIN_CALLS_H
#define UMEMCG_BENCH_REPORT_EXPLAIN_CALLS_H

#include <stdio.h>

#include "report/profile_difference.h"

/**
 * explain_calls_print - below each such symbol, who calls it how often
 * @out:        where to
 * @difference: live
 * @base_each:  operations that the base is of, and
 * @other_each: the other
 *
 * The callers whose calls added the most come first: instructions of the symbol and of all that it
 * calls in turn, so that the sums of different symbols overlap.
 *
 * Return: 0; -ENOMEM.
 */
int explain_calls_print(FILE *out, const struct profile_difference *difference, double base_each,
			double other_each);

#endif
