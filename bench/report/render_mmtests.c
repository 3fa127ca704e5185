/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of mmtests: a column for each configuration, positive is better.
 * Columns that do not fit beside each other go into further panels, and a name
 * that is longer than its column widens it.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "report/layout.h"
#include "report/profile_table.h"
#include "report/surroundings.h"
#include "report/text.h"
#include "report/units.h"

/* "Hmean    faults/cpu-1": the statistic, then the row's name. */
#define STATISTIC_COLUMNS 9
/* "User     ": in the table of times. */
#define TIME_LABEL_COLUMNS 8
#define TIME_COLUMNS       12

enum kind { KIND_MIN, KIND_MEAN, KIND_STDDEV, KIND_COEFFICIENT, KIND_MAX, KIND_BEST95, NR_KINDS };

static const char *kind_name(enum kind kind, enum bench_better better)
{
	switch (kind) {
	case KIND_MIN:
		return "Min";
	case KIND_MEAN:
		return better == BENCH_HIGHER ? "Hmean" : "Amean";
	case KIND_STDDEV:
		return "Stddev";
	case KIND_COEFFICIENT:
		return "CoeffVar";
	case KIND_MAX:
		return "Max";
	default:
		return better == BENCH_HIGHER ? "BHmean95" : "BAmean95";
	}
}

static double kind_value(const struct statistics *statistics, enum kind kind)
{
	switch (kind) {
	case KIND_MIN:
		return statistics->min;
	case KIND_MEAN:
		return statistics->mean;
	case KIND_STDDEV:
		return statistics->stddev;
	case KIND_COEFFICIENT:
		return statistics->coefficient_percent;
	case KIND_MAX:
		return statistics->max;
	default:
		return statistics->best95;
	}
}

/* Positive is better: of a rate more, of a time and of any spread less. */
static double gain_percent(const struct cell *cell, enum kind kind)
{
	bool is_spread = kind == KIND_STDDEV || kind == KIND_COEFFICIENT;
	double base, value;

	if (!cell->base)
		return 0;
	base = kind_value(&cell->base->statistics, kind);
	value = kind_value(&cell->statistics, kind);
	if (base == value)
		return 0;
	if (cell->series->better == BENCH_HIGHER && !is_spread)
		return 100 * value / base - 100;
	return 100 - 100 * value / base;
}

/* A time that is not in seconds says so. */
static const char *row_label(const struct row *row, char *text, size_t nr_bytes)
{
	if (units_is_told(row, row->series->unit))
		return row->name;
	snprintf(text, nr_bytes, "%s (%s)", row->name, row->series->unit);
	return text;
}
#define ROW_LABEL_BYTES 2048

struct widths {
	size_t label;
	size_t value;
	size_t gain;
	size_t column; /* value, gain and their punctuation, or the longest name */
	size_t time_column;
};

/* The name of a column: whose accounting, and in which state. */
static void column_names(const struct comparison *comparison, const struct table *table,
			 const struct column *column, const char **ret_names, char *text,
			 size_t nr_bytes)
{
	const struct run *run = &comparison->runs[column->run];
	const struct bench_environment *e = &run->result->environment;

	if (strcmp(table->target, "lib") == 0)
		snprintf(text, nr_bytes, "umemcg%s%s", *e->umemcg_version ? "-" : "",
			 e->umemcg_version);
	else
		snprintf(text, nr_bytes, "%s", *e->kernel ? e->kernel : "kernel");
	ret_names[0] = comparison->nr_runs > 1 ? run->label : NULL;
	ret_names[1] = text;
	ret_names[2] = column->config;
}
#define NR_HEADER_ROWS    3
#define HEADER_TEXT_BYTES 512

static void measure_header(const struct comparison *comparison, const struct table *table,
			   struct widths *widths)
{
	const char *names[NR_HEADER_ROWS];
	char text[HEADER_TEXT_BYTES];
	size_t longest = 0;

	for (size_t i = 0; i < table->nr_columns; i++) {
		column_names(comparison, table, &table->columns[i], names, text, sizeof(text));
		for (size_t j = 0; j < NR_HEADER_ROWS; j++)
			longest = names[j] ? layout_widen(longest, names[j]) : longest;
	}
	/* A name that fills its column would touch the next one. */
	if (longest + 1 > widths->column)
		widths->column = longest + 1;
	widths->time_column = longest + 1 > TIME_COLUMNS ? longest + 1 : TIME_COLUMNS;
}

static void measure_widths(const struct comparison *comparison, const struct table *table,
			   struct widths *widths)
{
	char text[LAYOUT_NUMBER_BYTES], label[ROW_LABEL_BYTES];

	*widths = (struct widths){ .value = 13, .gain = 6 };
	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct row *row = &table->rows[i];

		widths->label = layout_widen(widths->label, row_label(row, label, sizeof(label)));
		for (size_t j = 0; j < table->nr_columns; j++) {
			if (!row->cells[j].series)
				continue;
			for (enum kind kind = 0; kind < NR_KINDS; kind++) {
				const char *number = layout_number(
					kind_value(&row->cells[j].statistics, kind), 4, 0, text);

				if (text_columns(number) + 1 > widths->value)
					widths->value = text_columns(number) + 1;
				number = layout_number(gain_percent(&row->cells[j], kind), 2, 0,
						       text);
				widths->gain = layout_widen(widths->gain, number);
			}
		}
	}
	widths->label += STATISTIC_COLUMNS;
	widths->column = widths->value + strlen(" (") + widths->gain + strlen("%)");
	measure_header(comparison, table, widths);
}

static void print_header(const struct comparison *comparison, const struct table *table,
			 size_t first, size_t end, size_t label_columns, size_t column_columns,
			 FILE *out)
{
	const char *names[NR_HEADER_ROWS];
	char text[HEADER_TEXT_BYTES];

	for (size_t i = 0; i < NR_HEADER_ROWS; i++) {
		if (i == 0 && comparison->nr_runs == 1)
			continue;
		layout_left(out, "", label_columns);
		for (size_t j = first; j < end; j++) {
			column_names(comparison, table, &table->columns[j], names, text,
				     sizeof(text));
			layout_right(out, names[i], column_columns);
		}
		fputc('\n', out);
	}
}

static void print_cell(const struct cell *cell, enum kind kind, const struct widths *widths,
		       FILE *out)
{
	char text[LAYOUT_NUMBER_BYTES];
	double value;

	layout_left(out, "",
		    widths->column - (widths->value + strlen(" (") + widths->gain + strlen("%)")));
	if (!cell->series) {
		layout_right(out, "-", widths->value);
		layout_left(out, "", strlen(" (") + widths->gain + strlen("%)"));
		return;
	}
	value = kind_value(&cell->statistics, kind);
	layout_right(out, layout_number(value, 4, 0, text), widths->value);
	value = gain_percent(cell, kind);
	fputs(" (", out);
	layout_right(out, layout_number(value, 2, 0, text), widths->gain);
	fputs(isfinite(value) ? "%)" : " )", out);
}

/* A table's columns @first to @end - 1, statistic by statistic. */
static void print_panel(const struct comparison *comparison, const struct table *table,
			const struct widths *widths, size_t first, size_t end, FILE *out)
{
	print_header(comparison, table, first, end, widths->label, widths->column, out);
	for (enum kind kind = 0; kind < NR_KINDS; kind++) {
		for (size_t i = 0; i < table->nr_rows; i++) {
			const struct row *row = &table->rows[i];
			char label[ROW_LABEL_BYTES];

			layout_left(out, kind_name(kind, row->series->better), STATISTIC_COLUMNS);
			layout_left(out, row_label(row, label, sizeof(label)),
				    widths->label - STATISTIC_COLUMNS);
			for (size_t j = first; j < end; j++)
				print_cell(&row->cells[j], kind, widths, out);
			fputc('\n', out);
		}
	}
}

static size_t fitting(const struct render_options *options, size_t label_columns,
		      size_t column_columns)
{
	size_t room = options->nr_columns ? options->nr_columns : 80;

	if (room < label_columns + column_columns)
		return 1;
	return (room - label_columns) / column_columns;
}

/* Two decimals, as long as the runs are long enough for them to tell something. */
static int time_decimals(const struct table *table)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		if (table->columns[i].has_times && table->columns[i].times[CPU_ELAPSED].mean_s < 1)
			return 4;
	}
	return 2;
}

static void print_times_panel(const struct comparison *comparison, const struct table *table,
			      const struct render_options *options, const struct widths *widths,
			      size_t first, size_t end, FILE *out)
{
	static const char *const labels[] = { "User", "System", "Elapsed" };
	char text[LAYOUT_NUMBER_BYTES];

	print_header(comparison, table, first, end, TIME_LABEL_COLUMNS, widths->time_column, out);
	for (size_t kind = 0; kind < NR_CPU_TIMES; kind++) {
		layout_left(out, labels[kind], TIME_LABEL_COLUMNS);
		for (size_t i = first; i < end; i++) {
			double mean_s = table->columns[i].has_times
						? table->columns[i].times[kind].mean_s
						: NAN;

			layout_right(out, layout_number(mean_s, time_decimals(table), 0, text),
				     widths->time_column);
		}
		fputc('\n', out);
		if (options->plain)
			continue;
		layout_left(out, "  +- %", TIME_LABEL_COLUMNS);
		for (size_t i = first; i < end; i++) {
			double error_percent = table->columns[i].has_times
						       ? table->columns[i].times[kind].error_percent
						       : NAN;

			layout_right(out, layout_number(error_percent, 2, 0, text),
				     widths->time_column);
		}
		fputc('\n', out);
	}
}

static bool has_times(const struct table *table)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		if (table->columns[i].has_times)
			return true;
	}
	return false;
}

static void print_table(const struct comparison *comparison, const struct table *table,
			const struct render_options *options, FILE *out)
{
	struct widths widths;
	size_t nr_fitting, first, end;

	measure_widths(comparison, table, &widths);
	nr_fitting = fitting(options, widths.label, widths.column);
	fprintf(out, "%s\n", table->title);
	for (first = 0; first < table->nr_columns; first = end) {
		end = first + nr_fitting < table->nr_columns ? first + nr_fitting
							     : table->nr_columns;
		print_panel(comparison, table, &widths, first, end, out);
		fputc('\n', out);
	}
	nr_fitting = fitting(options, TIME_LABEL_COLUMNS, widths.time_column);
	for (first = 0; has_times(table) && first < table->nr_columns; first = end) {
		end = first + nr_fitting < table->nr_columns ? first + nr_fitting
							     : table->nr_columns;
		print_times_panel(comparison, table, options, &widths, first, end, out);
		fputc('\n', out);
	}
	if (!options->plain) {
		surroundings_verdicts(comparison, table, options, PLUS_IS_BETTER, out);
		fputc('\n', out);
	}
}

static int render(const struct comparison *comparison, const struct render_options *options,
		  FILE *out, struct report_error *error)
{
	if (!options->plain)
		surroundings_head(comparison, options, out);
	for (size_t i = 0; i < comparison->nr_tables; i++) {
		surroundings_target(comparison, &comparison->tables[i], options, out);
		print_table(comparison, &comparison->tables[i], options, out);
	}
	surroundings_foot(comparison, options, PLUS_IS_BETTER, out);
	return profile_tables_print(comparison, out, error);
}

const struct renderer render_mmtests = {
	.name = "mmtests",
	.description = "a column for each configuration, positive is better",
	.render = render,
};
