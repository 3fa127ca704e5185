/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a kernel costs more than the first one, configuration by configuration. */
#include <math.h>
#include <stdlib.h>

#include "report/exact_prices.h"
#include "report/layout.h"
#include "report/params.h"
#include "report/profile_base.h"
#include "report/surroundings.h"

/* Of two kernels there are their medians in place of one and its range. */
#define KERNEL_COLUMNS 12

static void print_kernel_column(const struct exact_prices *prices, const char *text)
{
	fputc(' ', prices->out);
	layout_right(prices->out, text, KERNEL_COLUMNS);
}

/* Of one configuration in two kernels. */
static double between(const struct row *old_row, const struct row *new_row, size_t column)
{
	const struct cell *older = exact_prices_cell(old_row, column);
	const struct cell *newer = exact_prices_cell(new_row, column);

	return older && newer ? newer->statistics.median - older->statistics.median : NAN;
}

static void print_kernel_row(const struct exact_prices *prices, const struct exact_operation *older,
			     size_t column)
{
	const struct exact_operation *newer = prices->operation;
	double old_median = older->mean->cells[column].statistics.median;
	double added = between(older->mean, newer->mean, column);
	double mode = between(older->mode, newer->mode, column);
	char text[LAYOUT_NUMBER_BYTES];

	exact_prices_name(prices, column);
	print_kernel_column(prices, layout_number(old_median, prices->nr_decimals, 0, text));
	print_kernel_column(prices,
			    layout_number(old_median + added, prices->nr_decimals, 0, text));
	exact_prices_number(prices, PRICES_ADDED, added, true);
	exact_prices_percent(prices, added, old_median);
	if (isfinite(mode))
		exact_prices_column(prices, PRICES_MODE, layout_number(mode, 0, 1, text));
	fputc('\n', prices->out);
}

void exact_prices_print_kernels(const struct exact_prices *prices,
				const struct exact_operation *older)
{
	const struct exact_operation *newer = prices->operation;
	const char *old_name = params_find(older->mean->series, PARAM_KERNEL)->text;
	const char *new_name = params_find(newer->mean->series, PARAM_KERNEL)->text;
	char name[KERNEL_COLUMNS + 1], *title;

	fputc('\n', prices->out);
	if (asprintf(&title, "%s against %s, instructions per %s", new_name, old_name,
		     newer->name) >= 0) {
		surroundings_wrap(prices->out, title, 0);
		free(title);
	}
	layout_left(prices->out, "", prices->name_columns);
	snprintf(name, sizeof(name), "%s", old_name);
	print_kernel_column(prices, name);
	snprintf(name, sizeof(name), "%s", new_name);
	print_kernel_column(prices, name);
	exact_prices_column(prices, PRICES_ADDED, exact_prices_head(PRICES_ADDED));
	exact_prices_column(prices, PRICES_PERCENT, exact_prices_head(PRICES_PERCENT));
	if (older->mode && newer->mode)
		exact_prices_column(prices, PRICES_MODE, exact_prices_head(PRICES_MODE));
	fputc('\n', prices->out);
	for (size_t i = 0; i < prices->table->nr_columns; i++) {
		if (isfinite(between(older->mean, newer->mean, i)))
			print_kernel_row(prices, older, i);
	}
}
