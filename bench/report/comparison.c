/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/comparison.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "report/tables.h"

static int warn(struct comparison *comparison, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int warn(struct comparison *comparison, const char *format, ...)
{
	char **warnings =
		array_grown(comparison->warnings, comparison->nr_warnings, sizeof(*warnings));
	va_list arguments;
	int nr_bytes;

	if (!warnings)
		return -ENOMEM;
	comparison->warnings = warnings;
	va_start(arguments, format);
	nr_bytes = vasprintf(&warnings[comparison->nr_warnings], format, arguments);
	va_end(arguments);
	if (nr_bytes < 0)
		return -ENOMEM;
	comparison->nr_warnings++;
	return 0;
}

static bool is_same_machine(const struct bench_environment *left,
			    const struct bench_environment *right)
{
	/* Kernels of one machine differ a little in the memory they leave. */
	double ratio = (double)left->memory_bytes / (double)right->memory_bytes;

	return strcmp(left->cpu, right->cpu) == 0 && left->cpus == right->cpus &&
	       (left->memory_bytes == right->memory_bytes || (ratio > 0.9 && ratio < 1.1));
}

static int flag_results(struct comparison *comparison)
{
	const struct run *first = &comparison->runs[0];
	int ret = 0;

	for (size_t i = 0; !ret && i < comparison->nr_runs; i++) {
		const struct run *run = &comparison->runs[i];
		const struct bench_environment *e = &run->result->environment;

		if (!is_same_machine(&first->result->environment, e))
			ret = warn(comparison, "%s: not the machine of %s (%s x %u, %s x %u)",
				   run->label, first->label, e->cpu, e->cpus,
				   first->result->environment.cpu, first->result->environment.cpus);
		if (!ret && e->busy)
			ret = warn(comparison, "%s: the machine was busy with other work",
				   run->label);
	}
	return ret;
}

/* What a run's own base measured of a row. */
static struct cell *base_of_run(const struct table *table, const struct row *row, size_t run)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		if (table->columns[i].run == run && table->columns[i].is_base)
			return row->cells[i].series ? &row->cells[i] : NULL;
	}
	return NULL;
}

static struct cell *cell_of(const struct table *table, const struct row *row, size_t run,
			    const char *config)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		if (table->columns[i].run == run && row->cells[i].series &&
		    strcmp(table->columns[i].config, config) == 0)
			return &row->cells[i];
	}
	return NULL;
}

static bool runs_share_machine(const struct comparison *comparison, size_t one, size_t other)
{
	return is_same_machine(&comparison->runs[one].result->environment,
			       &comparison->runs[other].result->environment);
}

/*
 * base-NotCompiled is the base also of another result of its machine: two
 * kernels need two boots, and so two results. A base that was asked for is
 * taken from wherever it was measured.
 */
static struct cell *named_base(const struct comparison *comparison, const struct table *table,
			       const struct row *row, size_t run)
{
	const char *names[] = { comparison->options.base, "base-NotCompiled" };

	for (size_t i = 0; i < 2; i++) {
		struct cell *cell = names[i] ? cell_of(table, row, run, names[i]) : NULL;

		for (size_t other = 0; names[i] && !cell && other < comparison->nr_runs; other++) {
			if (i == 0 || runs_share_machine(comparison, run, other))
				cell = cell_of(table, row, other, names[i]);
		}
		if (cell)
			return cell;
	}
	return NULL;
}

static struct cell *base_of(const struct comparison *comparison, const struct table *table,
			    const struct row *row, size_t column)
{
	size_t run = table->columns[column].run;
	struct cell *base = NULL;

	/* The control repeats its own run's base, whatever else is compared with what. */
	if (comparison->options.across && !table->columns[column].is_control)
		return run > 0 ? cell_of(table, row, 0, table->columns[column].config) : NULL;
	if (!table->columns[column].is_control)
		base = named_base(comparison, table, row, run);
	return base ? base : base_of_run(table, row, run);
}

static size_t run_of(const struct table *table, const struct row *row, const struct cell *cell)
{
	return table->columns[cell - row->cells].run;
}

static int compare_cell(const struct comparison *comparison, const struct table *table,
			struct row *row, size_t column)
{
	struct cell *cell = &row->cells[column], *base;
	size_t base_run;
	int ret;

	cell->noise_percent = NAN;
	if (!cell->series)
		return 0;
	ret = statistics_of_series(cell->series, &cell->statistics);
	base = base_of(comparison, table, row, column);
	if (ret || !base || base == cell)
		return ret;
	cell->base = base;
	base_run = run_of(table, row, base);
	return bootstrap_compare(base->series, cell->series, base_run == table->columns[column].run,
				 comparison->runs[base_run].result->environment.seed,
				 &cell->bootstrap);
}

/* The control's furthest end is the noise beside every delta of its run. */
static void spread_noise(const struct table *table, struct row *row)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		const struct cell *control = &row->cells[i];
		double noise_percent;

		if (!table->columns[i].is_control || !control->bootstrap.has_interval)
			continue;
		noise_percent =
			fmax(-control->bootstrap.low_percent, control->bootstrap.high_percent);
		for (size_t j = 0; j < table->nr_columns; j++) {
			if (table->columns[j].run == table->columns[i].run)
				row->cells[j].noise_percent = noise_percent;
		}
	}
}

/* Calls @visit for every cell that is compared. */
static void for_each_compared(struct comparison *comparison,
			      void (*visit)(struct comparison *, struct cell *, bool, void *),
			      void *context)
{
	for (size_t i = 0; i < comparison->nr_tables; i++) {
		struct table *table = &comparison->tables[i];

		for (size_t j = 0; j < table->nr_rows; j++) {
			for (size_t k = 0; k < table->nr_columns; k++) {
				struct cell *cell = &table->rows[j].cells[k];

				if (cell->base)
					visit(comparison, cell, table->columns[k].is_control,
					      context);
			}
		}
	}
}

static void count_cell(struct comparison *comparison, struct cell *cell, bool is_control,
		       void *context)
{
	(void)context;
	if (!is_control && cell->bootstrap.has_interval)
		comparison->nr_comparisons++;
}

/* P values in the order of the cells, and back. */
struct p_values {
	double *values;
	size_t next;
	bool adjusted;
};

static void exchange_p_value(struct comparison *comparison, struct cell *cell, bool is_control,
			     void *context)
{
	struct p_values *p_values = context;

	(void)comparison;
	if (is_control || !cell->bootstrap.has_interval)
		return;
	if (p_values->adjusted)
		cell->p_adjusted = p_values->values[p_values->next++];
	else
		p_values->values[p_values->next++] = cell->bootstrap.p_value;
}

static int adjust(struct comparison *comparison)
{
	struct p_values p_values = { calloc(comparison->nr_comparisons + 1, sizeof(double)), 0,
				     false };
	int ret;

	if (!p_values.values)
		return -ENOMEM;
	for_each_compared(comparison, exchange_p_value, &p_values);
	ret = statistics_holm(p_values.values, p_values.next);
	p_values.next = 0;
	p_values.adjusted = true;
	if (!ret)
		for_each_compared(comparison, exchange_p_value, &p_values);
	free(p_values.values);
	return ret;
}

/* Holm's first and widest step, in units of the interval without adjustment. */
static double widening(const struct comparison *comparison)
{
	double tail = VERDICT_FALSE_RATE / 2;

	if (!comparison->options.adjust_holm || comparison->nr_comparisons < 2)
		return 1;
	return gsl_cdf_ugaussian_Qinv(tail / (double)comparison->nr_comparisons) /
	       gsl_cdf_ugaussian_Qinv(tail);
}

static void judge_cell(struct comparison *comparison, struct cell *cell, bool is_control,
		       void *context)
{
	double effect_percent = comparison->options.effect_percent;

	(void)is_control;
	(void)context;
	cell->verdict = verdict_of(&cell->bootstrap, cell->series->better, effect_percent,
				   cell->p_adjusted);
	if (cell->verdict == VERDICT_UNCLEAR)
		cell->runs_needed =
			verdict_runs_needed(&cell->bootstrap, effect_percent, widening(comparison));
}

static int compare_all(struct comparison *comparison)
{
	int ret = 0;

	for (size_t i = 0; i < comparison->nr_tables; i++) {
		struct table *table = &comparison->tables[i];

		for (size_t j = 0; j < table->nr_rows; j++) {
			for (size_t k = 0; !ret && k < table->nr_columns; k++)
				ret = compare_cell(comparison, table, &table->rows[j], k);
			spread_noise(table, &table->rows[j]);
		}
	}
	if (ret)
		return ret;
	for_each_compared(comparison, count_cell, NULL);
	comparison->false_verdicts = VERDICT_FALSE_RATE * (double)comparison->nr_comparisons;
	if (comparison->options.adjust_holm) {
		ret = adjust(comparison);
		/* All of them together are wrong as rarely as one was. */
		comparison->false_verdicts = comparison->nr_comparisons ? VERDICT_FALSE_RATE : 0;
	}
	if (!ret)
		for_each_compared(comparison, judge_cell, NULL);
	return ret;
}

/* The base that was asked for must have been measured somewhere. */
static int check_base(const struct comparison *comparison, struct report_error *error)
{
	const char *base = comparison->options.base;
	size_t nr_bytes = 0;

	for (size_t i = 0; base && i < comparison->nr_tables; i++) {
		const struct table *table = &comparison->tables[i];

		for (size_t j = 0; j < table->nr_columns; j++) {
			if (strcmp(table->columns[j].config, base) == 0 &&
			    !table->columns[j].is_control)
				return 0;
		}
	}
	if (!base)
		return 0;
	nr_bytes = (size_t)snprintf(error->text, sizeof(error->text),
				    "base %.200s: not measured; accepted are", base);
	for (size_t i = 0; i < comparison->nr_tables && i < 1; i++) {
		for (size_t j = 0; j < comparison->tables[i].nr_columns; j++) {
			const struct column *column = &comparison->tables[i].columns[j];

			if (column->is_control || nr_bytes >= sizeof(error->text))
				continue;
			nr_bytes += (size_t)snprintf(error->text + nr_bytes,
						     sizeof(error->text) - nr_bytes, " %s",
						     column->config);
		}
	}
	return -EINVAL;
}

int comparison_create(const struct run *runs, size_t nr_runs,
		      const struct comparison_options *options, struct comparison **ret_comparison,
		      struct report_error *error)
{
	struct comparison *comparison = calloc(1, sizeof(*comparison));
	int ret;

	if (!comparison)
		return -ENOMEM;
	comparison->runs = runs;
	comparison->nr_runs = nr_runs;
	comparison->options = *options;
	ret = flag_results(comparison);
	if (!ret)
		ret = tables_create(comparison, error);
	if (!ret)
		ret = tables_check(comparison, error);
	if (!ret)
		ret = check_base(comparison, error);
	if (!ret)
		ret = tables_name_rows(comparison);
	if (!ret)
		ret = tables_measure_times(comparison);
	if (!ret)
		ret = compare_all(comparison);
	if (ret) {
		comparison_destroy(comparison);
		return ret;
	}
	*ret_comparison = comparison;
	return 0;
}

void comparison_destroy(struct comparison *comparison)
{
	if (!comparison)
		return;
	tables_destroy(comparison);
	for (size_t i = 0; i < comparison->nr_warnings; i++)
		free(comparison->warnings[i]);
	free(comparison->warnings);
	free(comparison);
}
