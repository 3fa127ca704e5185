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

/** params_compare_lists - as params_compare(), of sorted lists */
int params_compare_lists(const struct bench_param *left, size_t nr_left,
			 const struct bench_param *right, size_t nr_right);

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

/**
 * params_set_integer - set a parameter in a list that stays sorted by name
 * @params:    the list, may be NULL while it is empty
 * @nr_params: its length
 * @name:      copied; one that is there already is replaced
 * @value:     as it was used
 *
 * Return: 0; -EINVAL for an empty or unprintable name; -ENOMEM.
 */
int params_set_integer(struct bench_param **params, size_t *nr_params, const char *name,
		       int64_t value);

/** params_set_text - as params_set_integer(), for a text */
int params_set_text(struct bench_param **params, size_t *nr_params, const char *name,
		    const char *value);

/** params_destroy - free a list */
void params_destroy(struct bench_param *params, size_t nr_params);

/** params_print_value - "3", "exec", or "none" for NULL */
void params_print_value(const struct bench_param *param, FILE *out);

#endif
