/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/params.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "report/text.h"

/* Finds @name, or the place where it belongs: parameters stay sorted by name. */
static bool find_place(const struct bench_param *params, size_t nr_params, const char *name,
		       size_t *ret_index)
{
	size_t i;

	for (i = 0; i < nr_params; i++) {
		int order = strcmp(params[i].name, name);

		if (order >= 0) {
			*ret_index = i;
			return order == 0;
		}
	}
	*ret_index = i;
	return false;
}

/* Takes over @param's strings on success. */
static int set_param(struct bench_param **params, size_t *nr_params, struct bench_param *param)
{
	struct bench_param *all;
	size_t i;

	if (find_place(*params, *nr_params, param->name, &i)) {
		free((*params)[i].name);
		free((*params)[i].text);
		(*params)[i] = *param;
		return 0;
	}
	all = array_grown(*params, *nr_params, sizeof(*all));
	if (!all)
		return -ENOMEM;
	memmove(&all[i + 1], &all[i], (*nr_params - i) * sizeof(*all));
	all[i] = *param;
	*params = all;
	(*nr_params)++;
	return 0;
}

int params_set_integer(struct bench_param **params, size_t *nr_params, const char *name,
		       int64_t value)
{
	struct bench_param param = { .integer = value };
	int ret;

	ret = text_copy_name(name, &param.name);
	if (!ret)
		ret = set_param(params, nr_params, &param);
	if (ret)
		free(param.name);
	return ret;
}

int params_set_text(struct bench_param **params, size_t *nr_params, const char *name,
		    const char *value)
{
	struct bench_param param = { 0 };
	int ret;

	ret = text_copy_name(name, &param.name);
	if (!ret)
		ret = text_copy_line(value, &param.text);
	if (!ret)
		ret = set_param(params, nr_params, &param);
	if (ret) {
		free(param.name);
		free(param.text);
	}
	return ret;
}

void params_destroy(struct bench_param *params, size_t nr_params)
{
	for (size_t i = 0; i < nr_params; i++) {
		free(params[i].name);
		free(params[i].text);
	}
	free(params);
}

const struct bench_param *params_find(const struct bench_series *series, const char *name)
{
	for (size_t i = 0; i < series->nr_params; i++) {
		if (strcmp(series->params[i].name, name) == 0)
			return &series->params[i];
	}
	return NULL;
}

/* Integers come before texts. */
static int compare_values(const struct bench_param *left, const struct bench_param *right)
{
	if (left->text && right->text)
		return strcmp(left->text, right->text);
	if (left->text || right->text)
		return left->text ? 1 : -1;
	return (left->integer > right->integer) - (left->integer < right->integer);
}

int params_compare_lists(const struct bench_param *left, size_t nr_left,
			 const struct bench_param *right, size_t nr_right)
{
	for (size_t i = 0; i < nr_left && i < nr_right; i++) {
		int order = strcmp(left[i].name, right[i].name);

		if (!order)
			order = compare_values(&left[i], &right[i]);
		if (order)
			return order;
	}
	return (nr_left > nr_right) - (nr_left < nr_right);
}

int params_compare(const struct bench_series *left, const struct bench_series *right)
{
	return params_compare_lists(left->params, left->nr_params, right->params, right->nr_params);
}

bool params_differ(const struct bench_series *left, const struct bench_series *right,
		   const char *name)
{
	const struct bench_param *one = params_find(left, name), *other = params_find(right, name);

	if (!one || !other)
		return one != other;
	return compare_values(one, other) != 0;
}

void params_print_value(const struct bench_param *param, FILE *out)
{
	if (!param)
		fputs("none", out);
	else if (param->text)
		fputs(param->text, out);
	else
		fprintf(out, "%" PRId64, param->integer);
}
