/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A result as JSON in memory, for the result file and for the reports that embed one. */
#ifndef UMEMCG_BENCH_REPORT_RESULT_JSON_H
#define UMEMCG_BENCH_REPORT_RESULT_JSON_H

#include <jansson.h>

#include "report/fields.h"
#include "report/result.h"

/**
 * result_from_json - read a result, checking every member
 * @json:       what a file holds; not consumed
 * @name:       what to call the file in @error
 * @ret_result: for result_destroy()
 * @error:      filled in unless the return is -ENOMEM or -E2BIG
 *
 * Return: 0; -EINVAL; -E2BIG for too many series; -ENOMEM.
 */
int result_from_json(json_t *json, const char *name, struct bench_result **ret_result,
		     struct report_error *error);

/**
 * params_from_json - read the object of parameters
 * @fields:    that has "params"
 * @params:    a list, empty before
 * @nr_params: its length
 *
 * Return: 0; -EINVAL with the error filled in; -ENOMEM.
 */
int params_from_json(const struct fields *fields, struct bench_param **params, size_t *nr_params);

/** profile_from_json - read one profile into a result; as params_from_json() */
int profile_from_json(struct bench_result *result, const struct fields *fields);

/**
 * result_to_json - write a result
 * @result:   live result
 * @ret_json: for json_decref()
 *
 * Return: 0; -ENOMEM.
 */
int result_to_json(const struct bench_result *result, json_t **ret_json);

/**
 * params_to_json - the parameters of a workload as an object
 * @params:    of a series or a profile
 * @nr_params: how many
 *
 * Return: for json_decref(); NULL without memory.
 */
json_t *params_to_json(const struct bench_param *params, size_t nr_params);

#endif
