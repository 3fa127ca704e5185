/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/exact_prices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/layout.h"

/* Widths of the columns behind the name; with it and the spaces between they are at most 80. */
static const struct {
	const char *head;
	size_t width;
} columns[] = {
	{ "median", 9 }, { "range", 15 },  { "added", 9 },     { "percent", 9 },
	{ "mode", 8 },   { "put off", 8 }, { "in kernel", 9 },
};

const struct cell *exact_prices_cell(const struct row *row, size_t column)
{
	return row && row->cells[column].series ? &row->cells[column] : NULL;
}

/* Hundredths or tenths where they tell something, as many in the whole table. */
static int decimals_of(const struct table *table, const struct exact_operation *operation)
{
	double largest = 0;

	for (size_t i = 0; i < table->nr_columns; i++) {
		const struct cell *cell = exact_prices_cell(operation->mean, i);

		largest = cell ? fmax(largest, cell->statistics.max) : largest;
	}
	return largest < 100 ? 2 : largest < 99999.95 ? 1 : 0;
}

/* "old.json: Set" where there are several results. */
static char *name_of(const struct comparison *comparison, const struct column *column)
{
	bool several = comparison->nr_runs > 1;
	char *name;

	if (asprintf(&name, "%s%s%s", several ? comparison->runs[column->run].label : "",
		     several ? ": " : "", column->config) < 0)
		return NULL;
	return name;
}

static size_t widest_name(const struct comparison *comparison, const struct table *table)
{
	size_t width = 0;

	for (size_t i = 0; i < table->nr_columns; i++) {
		char *name = name_of(comparison, &table->columns[i]);

		width = layout_widen(width, name ? name : "");
		free(name);
	}
	return width;
}

struct exact_prices exact_prices(const struct comparison *comparison, const struct table *table,
				 const struct exact_operation *operation, FILE *out)
{
	return (struct exact_prices){ .comparison = comparison,
				      .table = table,
				      .operation = operation,
				      .name_columns = widest_name(comparison, table),
				      .nr_decimals = decimals_of(table, operation),
				      .out = out };
}

void exact_prices_name(const struct exact_prices *prices, size_t column)
{
	char *name = name_of(prices->comparison, &prices->table->columns[column]);

	layout_left(prices->out, name ? name : "", prices->name_columns);
	free(name);
}

void exact_prices_column(const struct exact_prices *prices, enum exact_prices_column column,
			 const char *text)
{
	fputc(' ', prices->out);
	layout_right(prices->out, text, columns[column].width);
}

void exact_prices_number(const struct exact_prices *prices, enum exact_prices_column column,
			 double value, bool is_signed)
{
	char text[LAYOUT_NUMBER_BYTES] = "";

	if (isfinite(value))
		layout_number(value, prices->nr_decimals, is_signed, text);
	exact_prices_column(prices, column, text);
}

const char *exact_prices_head(enum exact_prices_column column)
{
	return columns[column].head;
}

static double median_over_base(const struct cell *cell)
{
	return cell && cell->base ? cell->statistics.median - cell->base->statistics.median : NAN;
}

void exact_prices_percent(const struct exact_prices *prices, double added, double base)
{
	char number[LAYOUT_NUMBER_BYTES], text[LAYOUT_NUMBER_BYTES + 2] = "";

	if (isfinite(added) && base > 0)
		snprintf(text, sizeof(text), "%s %%",
			 layout_number(100 * added / base, 1, 1, number));
	exact_prices_column(prices, PRICES_PERCENT, isfinite(added) ? text : "base");
}

static void print_range(const struct exact_prices *prices, const struct statistics *statistics)
{
	char low[LAYOUT_NUMBER_BYTES], high[LAYOUT_NUMBER_BYTES];
	char text[2 * LAYOUT_NUMBER_BYTES];

	layout_number(statistics->min, prices->nr_decimals, 0, low);
	layout_number(statistics->max, prices->nr_decimals, 0, high);
	snprintf(text, sizeof(text), "%s-%s", low, high);
	exact_prices_column(prices, PRICES_RANGE, strcmp(low, high) ? text : low);
}

/* Of single operations: a whole number, in the base's row itself, elsewhere what is added to it. */
static void print_mode(const struct exact_prices *prices, const struct cell *cell)
{
	bool is_added = cell && cell->base;
	char text[LAYOUT_NUMBER_BYTES] = "";

	if (cell)
		layout_number(is_added ? median_over_base(cell) : cell->statistics.median, 0,
			      is_added, text);
	exact_prices_column(prices, PRICES_MODE, text);
}

/* A result that has nothing of an operation has no rows in its table. */
static bool has_run(const struct exact_prices *prices, size_t run)
{
	for (size_t i = 0; i < prices->table->nr_columns; i++) {
		if (prices->table->columns[i].run == run &&
		    exact_prices_cell(prices->operation->mean, i))
			return true;
	}
	return false;
}

/* Figures that no configuration has, or that a target has not, have no column. */
static bool has_column(const struct exact_operation *operation, enum exact_prices_column column)
{
	return (column != PRICES_MODE || operation->mode) &&
	       (column != PRICES_PUT_OFF || operation->put_off) &&
	       (column != PRICES_IN_KERNEL || operation->in_kernel);
}

static void print_row(const struct exact_prices *prices, size_t column)
{
	const struct exact_operation *operation = prices->operation;
	const struct cell *mean = exact_prices_cell(operation->mean, column);
	const struct cell *put_off = exact_prices_cell(operation->put_off, column);
	const struct cell *in_kernel = exact_prices_cell(operation->in_kernel, column);

	exact_prices_name(prices, column);
	if (!mean) {
		fputs(" not measured\n", prices->out);
		return;
	}
	exact_prices_number(prices, PRICES_MEDIAN, mean->statistics.median, false);
	print_range(prices, &mean->statistics);
	exact_prices_number(prices, PRICES_ADDED, median_over_base(mean), true);
	exact_prices_percent(prices, median_over_base(mean),
			     mean->base ? mean->base->statistics.median : 0);
	if (has_column(operation, PRICES_MODE))
		print_mode(prices, exact_prices_cell(operation->mode, column));
	if (has_column(operation, PRICES_PUT_OFF))
		exact_prices_number(prices, PRICES_PUT_OFF,
				    put_off ? put_off->statistics.median : NAN, false);
	if (has_column(operation, PRICES_IN_KERNEL))
		exact_prices_number(prices, PRICES_IN_KERNEL,
				    in_kernel ? in_kernel->statistics.median : NAN, false);
	fputc('\n', prices->out);
}

void exact_prices_print(const struct exact_prices *prices)
{
	layout_left(prices->out, "", prices->name_columns);
	for (unsigned int i = 0; i < PRICES_NR_COLUMNS; i++) {
		if (has_column(prices->operation, i))
			exact_prices_column(prices, i, columns[i].head);
	}
	fputc('\n', prices->out);
	for (size_t i = 0; i < prices->table->nr_columns; i++) {
		if (has_run(prices, prices->table->columns[i].run))
			print_row(prices, i);
	}
}
