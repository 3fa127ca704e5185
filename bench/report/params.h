/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameters of workloads, looked at across series. */
#ifndef UMEMCG_BENCH_REPORT_PARAMS_H
#define UMEMCG_BENCH_REPORT_PARAMS_H

#include <stdbool.h>
#include <stdio.h>

#include "report/result.h"

/* The parameter that every table shows behind the metric, as in faults/cpu-3. */
#define PARAM_WORKERS "workers"

/** params_find - the parameter of that name, or NULL */
const struct bench_param *params_find(const struct bench_series *series, const char *name);

/** params_compare - order by name, then by value, numbers as numbers: <0, 0, >0 */
int params_compare(const struct bench_series *left, const struct bench_series *right);

/**
 * params_differ - do two series differ in one parameter?
 * @left:  live series
 * @right: live series
 * @name:  of the parameter; having it and not having it differ
 *
 * Return: true if so.
 */
bool params_differ(const struct bench_series *left, const struct bench_series *right,
		   const char *name);

/** params_print_value - "3", "exec", or "none" for NULL */
void params_print_value(const struct bench_param *param, FILE *out);

#endif
