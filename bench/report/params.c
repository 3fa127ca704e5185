/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/params.h"

#include <inttypes.h>
#include <string.h>

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

int params_compare(const struct bench_series *left, const struct bench_series *right)
{
	for (size_t i = 0; i < left->nr_params && i < right->nr_params; i++) {
		int order = strcmp(left->params[i].name, right->params[i].name);

		if (!order)
			order = compare_values(&left->params[i], &right->params[i]);
		if (order)
			return order;
	}
	return (left->nr_params > right->nr_params) - (left->nr_params < right->nr_params);
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
