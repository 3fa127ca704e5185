/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "report/params.h"
#include "report/profile_base.h"

/* A table of some thousand cells is a large one; each takes some hundred bytes. */
#define MAX_CELLS (1u << 18)

static int table_of(struct comparison *comparison, const struct bench_series *series,
		    struct table **ret_table)
{
	struct table *tables;

	for (size_t i = 0; i < comparison->nr_tables; i++) {
		struct table *table = &comparison->tables[i];

		if (strcmp(table->workload, series->workload) == 0 &&
		    strcmp(table->target, series->target) == 0 &&
		    strcmp(table->meter, series->meter) == 0) {
			*ret_table = table;
			return 0;
		}
	}
	tables = array_grown(comparison->tables, comparison->nr_tables, sizeof(*tables));
	if (!tables)
		return -ENOMEM;
	comparison->tables = tables;
	*ret_table = &tables[comparison->nr_tables++];
	**ret_table = (struct table){
		.workload = series->workload,
		.target = series->target,
		.meter = series->meter,
		.title = series->title ? series->title : series->workload,
	};
	return 0;
}

/* The index of a column, or nr_columns if there is none. */
static size_t find_column(const struct table *table, size_t run, const char *config)
{
	size_t i = 0;

	while (i < table->nr_columns &&
	       (table->columns[i].run != run || strcmp(table->columns[i].config, config)))
		i++;
	return i;
}

static int add_column(struct table *table, size_t run, const char *config)
{
	struct column *columns;

	if (find_column(table, run, config) < table->nr_columns)
		return 0;
	columns = array_grown(table->columns, table->nr_columns, sizeof(*columns));
	if (!columns)
		return -ENOMEM;
	table->columns = columns;
	columns[table->nr_columns++] = (struct column){
		.run = run,
		.config = config,
		.is_control = strcmp(config, COMPARISON_CONTROL) == 0,
	};
	return 0;
}

/* How preferable a configuration is as a base, if it was measured: the least. */
static int rank_of_base(const struct comparison *comparison, const struct column *column)
{
	const char *wanted = comparison->options.base;

	if (column->is_control)
		return 4;
	if (wanted && strcmp(column->config, wanted) == 0)
		return 0;
	if (strcmp(column->config, "base-NotCompiled") == 0)
		return 1;
	return strcmp(column->config, "disabled") == 0 ? 2 : 3;
}

/* Moves the base of each run to the front of its columns, and the control to the end. */
static void order_columns(const struct comparison *comparison, struct table *table)
{
	size_t end;

	for (size_t start = 0; start < table->nr_columns; start = end) {
		size_t base = start, control = start, i;
		struct column moved;

		for (end = start; end < table->nr_columns &&
				  table->columns[end].run == table->columns[start].run;
		     end++) {
			if (rank_of_base(comparison, &table->columns[end]) <
			    rank_of_base(comparison, &table->columns[base]))
				base = end;
		}
		moved = table->columns[base];
		for (i = base; i > start; i--)
			table->columns[i] = table->columns[i - 1];
		table->columns[start] = moved;
		table->columns[start].is_base = !moved.is_control;
		while (control < end && !table->columns[control].is_control)
			control++;
		for (i = control; i + 1 < end; i++) {
			moved = table->columns[i];
			table->columns[i] = table->columns[i + 1];
			table->columns[i + 1] = moved;
		}
	}
}

/* The first row of the same kernel, or the new row itself. */
static size_t first_of_kernel(const struct table *table, const struct bench_series *series)
{
	size_t i = 0;

	while (i < table->nr_rows && params_differ(table->rows[i].series, series, PARAM_KERNEL))
		i++;
	return i;
}

static int row_of(struct table *table, const struct bench_series *series, struct row **ret_row)
{
	struct row *rows;

	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct bench_series *other = table->rows[i].series;

		if (strcmp(other->metric, series->metric) == 0 &&
		    params_compare(other, series) == 0) {
			*ret_row = &table->rows[i];
			return 0;
		}
	}
	if ((table->nr_rows + 1) * table->nr_columns > MAX_CELLS)
		return -E2BIG;
	rows = array_grown(table->rows, table->nr_rows, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	table->rows = rows;
	*ret_row = &rows[table->nr_rows];
	**ret_row = (struct row){ .series = series, .kernel = first_of_kernel(table, series) };
	(*ret_row)->cells = calloc(table->nr_columns, sizeof(struct cell));
	if (!(*ret_row)->cells)
		return -ENOMEM;
	table->nr_rows++;
	return 0;
}

static int place_series(struct comparison *comparison, size_t run,
			const struct bench_series *series, struct report_error *error)
{
	struct table *table;
	struct row *row;
	size_t column;
	int ret;

	ret = table_of(comparison, series, &table);
	if (!ret)
		ret = row_of(table, series, &row);
	if (ret == -E2BIG) {
		snprintf(error->text, sizeof(error->text),
			 "%.256s: too many parameters and configurations of %.64s (%s); accepted "
			 "are %u values in a table",
			 comparison->runs[run].label, series->workload, series->target, MAX_CELLS);
		return -EINVAL;
	}
	if (ret)
		return ret;
	/* Every column was added before the first row. */
	column = find_column(table, run, series->config);
	if (row->cells[column].series) {
		snprintf(error->text, sizeof(error->text),
			 "%.256s: %.64s of %.64s (%.16s, %.64s) is there twice; accepted is each "
			 "metric once for each configuration and parameters",
			 comparison->runs[run].label, series->metric, series->workload,
			 series->target, series->config);
		return -EINVAL;
	}
	row->cells[column].series = series;
	return 0;
}

/* As params_compare(), but kernels are in the order in which they were named. */
static int compare_rows(const struct row *left, const struct row *right)
{
	const struct bench_series *one = left->series, *other = right->series;

	for (size_t i = 0; i < one->nr_params && i < other->nr_params; i++) {
		int order = params_compare_lists(&one->params[i], 1, &other->params[i], 1);

		if (order && strcmp(one->params[i].name, PARAM_KERNEL) == 0 &&
		    strcmp(other->params[i].name, PARAM_KERNEL) == 0)
			return left->kernel < right->kernel ? -1 : 1;
		if (order)
			return order;
	}
	return (one->nr_params > other->nr_params) - (one->nr_params < other->nr_params);
}

/* Metrics keep the order of their first appearance; qsort(3) knows no context. */
static void sort_rows(struct table *table)
{
	for (size_t i = 1; i < table->nr_rows; i++) {
		struct row row = table->rows[i];
		size_t first = 0, at;

		while (strcmp(table->rows[first].series->metric, row.series->metric))
			first++;
		/* Rows before i are sorted: look back over those of the metric. */
		for (at = i; at > 0 && at > first; at--) {
			const struct row *before = &table->rows[at - 1];

			if (strcmp(before->series->metric, row.series->metric) == 0 &&
			    compare_rows(before, &row) <= 0)
				break;
			table->rows[at] = table->rows[at - 1];
		}
		table->rows[at] = row;
	}
}

int tables_create(struct comparison *comparison, struct report_error *error)
{
	struct table *table;
	int ret = 0;

	for (size_t run = 0; run < comparison->nr_runs; run++) {
		const struct bench_result *result = comparison->runs[run].result;

		for (size_t i = 0; i < result->nr_series; i++) {
			ret = table_of(comparison, result->series[i], &table);
			if (!ret)
				ret = add_column(table, run, result->series[i]->config);
			if (ret)
				return ret;
		}
	}
	for (size_t i = 0; i < comparison->nr_tables; i++)
		order_columns(comparison, &comparison->tables[i]);
	for (size_t run = 0; run < comparison->nr_runs; run++) {
		const struct bench_result *result = comparison->runs[run].result;

		for (size_t i = 0; !ret && i < result->nr_series; i++)
			ret = place_series(comparison, run, result->series[i], error);
	}
	for (size_t i = 0; !ret && i < comparison->nr_tables; i++)
		sort_rows(&comparison->tables[i]);
	return ret;
}

void tables_destroy(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->nr_tables; i++) {
		struct table *table = &comparison->tables[i];

		for (size_t j = 0; j < table->nr_rows; j++) {
			free(table->rows[j].name);
			free(table->rows[j].cells);
		}
		free(table->rows);
		free(table->columns);
	}
	free(comparison->tables);
	comparison->tables = NULL;
	comparison->nr_tables = 0;
}
