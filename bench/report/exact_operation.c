/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of an exact table that belong together: the figures of one operation. */
#include "report/exact_operation.h"

#include <stdio.h>
#include <string.h>

#include "report/params.h"
#include "report/profile_base.h"
#include "report/text.h"

#define MEAN "instructions/"

static const struct row *find_row(const struct table *table, const struct row *like,
				  const char *before, const char *name, const char *after)
{
	char metric[TEXT_NAME_MAX + 32];

	snprintf(metric, sizeof(metric), "%s%s%s", before, name, after);
	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct row *row = &table->rows[i];

		if (strcmp(row->series->metric, metric) == 0 &&
		    params_compare(row->series, like->series) == 0)
			return row;
	}
	return NULL;
}

bool exact_operation_at(const struct table *table, size_t index,
			struct exact_operation *ret_operation)
{
	const struct row *row = &table->rows[index];
	const char *name = row->series->metric + strlen(MEAN);

	if (strncmp(row->series->metric, MEAN, strlen(MEAN)) || strchr(name, ','))
		return false;
	*ret_operation = (struct exact_operation){
		.name = name,
		.mean = row,
		.mode = find_row(table, row, MEAN, name, ", mode"),
		.put_off = find_row(table, row, "put off/", name, ""),
		.in_kernel = find_row(table, row, "in the kernel/", name, ""),
	};
	return true;
}

/* Series are in the order in which kernels were named. */
static const struct bench_param *first_kernel(const struct comparison *comparison)
{
	for (size_t run = 0; run < comparison->nr_runs; run++) {
		const struct bench_result *result = comparison->runs[run].result;

		for (size_t i = 0; i < result->nr_series; i++) {
			const struct bench_param *kernel =
				params_find(result->series[i], PARAM_KERNEL);

			if (kernel && kernel->text)
				return kernel;
		}
	}
	return NULL;
}

/* Do two series differ in the kernel alone? */
static bool is_other_kernel(const struct bench_series *left, const struct bench_series *right)
{
	for (size_t i = 0; i < left->nr_params; i++) {
		const char *name = left->params[i].name;

		if (strcmp(name, PARAM_KERNEL) && params_differ(left, right, name))
			return false;
	}
	return left->nr_params == right->nr_params && strcmp(left->metric, right->metric) == 0;
}

bool exact_operation_of_first_kernel(const struct comparison *comparison, const struct table *table,
				     const struct exact_operation *operation,
				     struct exact_operation *ret_older)
{
	const struct bench_param *first = first_kernel(comparison);
	const struct bench_param *own = params_find(operation->mean->series, PARAM_KERNEL);

	if (!first || !own || !own->text || strcmp(own->text, first->text) == 0)
		return false;
	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct bench_series *series = table->rows[i].series;
		const struct bench_param *kernel = params_find(series, PARAM_KERNEL);

		if (kernel && kernel->text && strcmp(kernel->text, first->text) == 0 &&
		    is_other_kernel(series, operation->mean->series))
			return exact_operation_at(table, i, ret_older);
	}
	return false;
}
