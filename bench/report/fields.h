/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checked access to the fields of a JSON object that nobody vouches for. Each
 * function fetches one member and, if it is missing or not what it must be,
 * fills in one line that names the input, the member and what it must be.
 */
#ifndef UMEMCG_BENCH_REPORT_FIELDS_H
#define UMEMCG_BENCH_REPORT_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/result.h"

/* An object of the input and where it stands, as in "series[3]". */
struct fields {
	const char *input;
	char where[96];
	json_t *object; /* borrowed */
	struct report_error *error;
};

/* What follows every complaint about a file: what would have been accepted. */
#define FIELDS_ACCEPTED "accepted is a result file of umemcg bench --json"

/**
 * fields_fail - complain about a member
 * @fields: where it stands
 * @key:    the member
 * @must:   what it must be, as in "a number, at least 0"
 *
 * Return: -EINVAL.
 */
int fields_fail(const struct fields *fields, const char *key, const char *must);

/* Each returns 0, or -EINVAL with the error filled in and ret_ arguments untouched. */

/** fields_enter - look into the object that is element @index of the array at @key */
int fields_enter(const struct fields *fields, const char *key, json_t *array, size_t index,
		 struct fields *ret_fields);

/** fields_text - a printable string; a missing one gives NULL if that is allowed */
int fields_text(const struct fields *fields, const char *key, bool optional, const char **ret_text);

/** fields_name - a printable string of 1 to TEXT_NAME_MAX bytes */
int fields_name(const struct fields *fields, const char *key, const char **ret_name);

/** fields_integer - an integer from 0 to @max */
int fields_integer(const struct fields *fields, const char *key, int64_t max, int64_t *ret_value);

/** fields_number - an integer or real, at least 0 */
int fields_number(const struct fields *fields, const char *key, double *ret_value);

/** fields_flag - true or false; a missing one is false */
int fields_flag(const struct fields *fields, const char *key, bool *ret_value);

/** fields_array - an array; a missing one gives NULL if that is allowed */
int fields_array(const struct fields *fields, const char *key, bool optional, json_t **ret_array);

/** fields_object - an object */
int fields_object(const struct fields *fields, const char *key, json_t **ret_object);

#endif
