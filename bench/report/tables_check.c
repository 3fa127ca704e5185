/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What must not be compared. A parameter that varies within one run is an axis
 * of the table: runs need not have all its points. Any other must be the same
 * in every run. Workers are always an axis, since they follow the machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/params.h"
#include "report/tables.h"

static bool same_metric(const struct row *left, const struct row *right)
{
	return strcmp(left->series->metric, right->series->metric) == 0;
}

/* The row's series in any configuration of a run, or NULL. */
static const struct bench_series *measured_in(const struct table *table, const struct row *row,
					      size_t run)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		if (table->columns[i].run == run && row->cells[i].series)
			return row->cells[i].series;
	}
	return NULL;
}

static size_t first_run_of(const struct table *table, const struct row *row)
{
	size_t i = 0;

	while (!row->cells[i].series)
		i++;
	return table->columns[i].run;
}

/* Does a run have rows of this metric that differ in the parameter? */
static bool is_axis(const struct comparison *comparison, const struct table *table,
		    const struct row *row, const char *name)
{
	if (strcmp(name, PARAM_WORKERS) == 0)
		return true;
	for (size_t run = 0; run < comparison->nr_runs; run++) {
		const struct bench_series *first = NULL;

		for (size_t i = 0; i < table->nr_rows; i++) {
			const struct row *other = &table->rows[i];
			const struct bench_series *series;

			if (!same_metric(row, other))
				continue;
			series = measured_in(table, other, run);
			if (first && series && params_differ(first, series, name))
				return true;
			if (!first)
				first = series;
		}
	}
	return false;
}

static int refuse_parameter(const struct comparison *comparison, const struct table *table,
			    const struct row *left, const struct row *right, const char *name,
			    struct report_error *error)
{
	const struct row *rows[] = { left, right };
	FILE *out = fmemopen(error->text, sizeof(error->text), "w");

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < 2; i++) {
		fprintf(out, i ? ", but in %.200s with " : "%.200s: ",
			comparison->runs[first_run_of(table, rows[i])].label);
		if (!i)
			fprintf(out, "%.100s (%s) was measured with ", table->workload,
				table->target);
		fprintf(out, "%.100s=", name);
		params_print_value(params_find(rows[i]->series, name), out);
	}
	fprintf(out, "; accepted are results with the same parameters");
	fclose(out);
	/* A full buffer is closed without its end. */
	error->text[sizeof(error->text) - 1] = '\0';
	return -EINVAL;
}

/* Rows of one metric that differ in what is no axis come from different runs. */
static int check_parameters(const struct comparison *comparison, const struct table *table,
			    const struct row *left, const struct row *right,
			    struct report_error *error)
{
	const struct bench_series *both[] = { left->series, right->series };

	for (size_t side = 0; side < 2; side++) {
		for (size_t i = 0; i < both[side]->nr_params; i++) {
			const char *name = both[side]->params[i].name;

			if (params_differ(both[0], both[1], name) &&
			    !is_axis(comparison, table, left, name))
				return refuse_parameter(comparison, table, left, right, name,
							error);
		}
	}
	return 0;
}

/* Every row of a metric against its first: two that differ, differ from a third. */
static int check_rows(const struct comparison *comparison, const struct table *table,
		      struct report_error *error)
{
	for (size_t i = 0; i < table->nr_rows; i++) {
		size_t first = 0;
		int ret;

		while (!same_metric(&table->rows[first], &table->rows[i]))
			first++;
		ret = check_parameters(comparison, table, &table->rows[first], &table->rows[i],
				       error);
		if (ret)
			return ret;
	}
	return 0;
}

static int check_units(const struct comparison *comparison, const struct table *table,
		       struct report_error *error)
{
	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct row *row = &table->rows[i];

		for (size_t j = 0; j < table->nr_columns; j++) {
			const struct bench_series *series = row->cells[j].series;

			if (!series || (strcmp(series->unit, row->series->unit) == 0 &&
					series->better == row->series->better))
				continue;
			snprintf(
				error->text, sizeof(error->text),
				"%.200s: %.64s of %.64s (%s) is in %.64s (%s is better), elsewhere "
				"in %.64s (%s is better); accepted is one unit for a metric",
				comparison->runs[table->columns[j].run].label, series->metric,
				series->workload, series->target, series->unit,
				series->better == BENCH_LOWER ? "lower" : "higher",
				row->series->unit,
				row->series->better == BENCH_LOWER ? "lower" : "higher");
			return -EINVAL;
		}
	}
	return 0;
}

static bool has_run(const struct table *table, size_t run)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		if (table->columns[i].run == run)
			return true;
	}
	return false;
}

/* The tables of one workload and target differ in their meter. */
static bool same_but_for_meter(const struct table *left, const struct table *right)
{
	return strcmp(left->workload, right->workload) == 0 &&
	       strcmp(left->target, right->target) == 0;
}

static bool shares_a_meter(const struct comparison *comparison, const struct table *table,
			   size_t one, size_t other)
{
	for (size_t i = 0; i < comparison->nr_tables; i++) {
		const struct table *candidate = &comparison->tables[i];

		if (same_but_for_meter(candidate, table) && has_run(candidate, one) &&
		    has_run(candidate, other))
			return true;
	}
	return false;
}

/* Two runs that both measured a workload must share a meter for it. */
static int check_meters(const struct comparison *comparison, const struct table *left,
			const struct table *right, struct report_error *error)
{
	for (size_t one = 0; one < comparison->nr_runs; one++) {
		for (size_t other = 0; has_run(left, one) && other < comparison->nr_runs; other++) {
			if (!has_run(right, other) || shares_a_meter(comparison, left, one, other))
				continue;
			snprintf(error->text, sizeof(error->text),
				 "%.256s: %.64s (%s) was measured with the %s meter, but in %.256s "
				 "with the %s meter; accepted are results of the same meter",
				 comparison->runs[one].label, left->workload, left->target,
				 left->meter, comparison->runs[other].label, right->meter);
			return -EINVAL;
		}
	}
	return 0;
}

int tables_check(const struct comparison *comparison, struct report_error *error)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < comparison->nr_tables; i++) {
		const struct table *table = &comparison->tables[i];

		ret = check_units(comparison, table, error);
		if (!ret)
			ret = check_rows(comparison, table, error);
		for (size_t j = 0; !ret && j < comparison->nr_tables; j++) {
			if (i != j && same_but_for_meter(table, &comparison->tables[j]))
				ret = check_meters(comparison, table, &comparison->tables[j],
						   error);
		}
	}
	return ret;
}

static int name_row(const struct comparison *comparison, const struct table *table, struct row *row)
{
	const struct bench_param *workers = params_find(row->series, PARAM_WORKERS);
	size_t nr_bytes;
	FILE *out = open_memstream(&row->name, &nr_bytes);

	if (!out)
		return -ENOMEM;
	fputs(row->series->metric, out);
	if (workers) {
		fputc('-', out);
		params_print_value(workers, out);
	}
	for (size_t i = 0; i < row->series->nr_params; i++) {
		const struct bench_param *param = &row->series->params[i];

		if (param == workers || !is_axis(comparison, table, row, param->name))
			continue;
		fprintf(out, " %s=", param->name);
		params_print_value(param, out);
	}
	return fclose(out) ? -ENOMEM : 0;
}

int tables_name_rows(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->nr_tables; i++) {
		struct table *table = &comparison->tables[i];

		for (size_t j = 0; j < table->nr_rows; j++) {
			int ret = name_row(comparison, table, &table->rows[j]);

			if (ret)
				return ret;
		}
	}
	return 0;
}
