/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an operation costs, as a table with a row for each configuration. */
#ifndef UMEMCG_BENCH_REPORT_EXACT_PRICES_H
#define UMEMCG_BENCH_REPORT_EXACT_PRICES_H

#include <stdbool.h>
#include <stdio.h>

#include "report/comparison.h"
#include "report/exact_operation.h"

enum exact_prices_column {
	PRICES_MEDIAN,
	PRICES_RANGE,
	PRICES_ADDED,
	PRICES_PERCENT,
	PRICES_MODE,
	PRICES_PUT_OFF,
	PRICES_IN_KERNEL,
	PRICES_NR_COLUMNS
};

struct exact_prices {
	const struct comparison *comparison;
	const struct table *table;
	const struct exact_operation *operation;
	size_t name_columns;
	int nr_decimals;
	FILE *out;
};

/** exact_prices - how the prices of an operation are laid out */
struct exact_prices exact_prices(const struct comparison *comparison, const struct table *table,
				 const struct exact_operation *operation, FILE *out);

/** exact_prices_print - a row for each configuration, held against the base */
void exact_prices_print(const struct exact_prices *prices);

/** exact_prices_print_kernels - what they are more than the same in another kernel, @older */
void exact_prices_print_kernels(const struct exact_prices *prices,
				const struct exact_operation *older);

/** exact_prices_cell - what a row has of a configuration, or NULL; @row may be NULL */
const struct cell *exact_prices_cell(const struct row *row, size_t column);

/* Parts of a row: its name; in a column a text, a number (nothing if not finite), a percentage. */
void exact_prices_name(const struct exact_prices *prices, size_t column);
const char *exact_prices_head(enum exact_prices_column column);
void exact_prices_column(const struct exact_prices *prices, enum exact_prices_column column,
			 const char *text);
void exact_prices_number(const struct exact_prices *prices, enum exact_prices_column column,
			 double value, bool is_signed);
/* "base" if @added is not finite, nothing if @base is 0. */
void exact_prices_percent(const struct exact_prices *prices, double added, double base);

#endif
