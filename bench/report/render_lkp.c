/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The comparison of a kernel robot's mail: the base on the left, then for each
 * configuration the change and its value, metrics on the right. A block of it
 * holds all that is compared with one base.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/layout.h"
#include "report/profile_table.h"
#include "report/surroundings.h"
#include "report/units.h"

/* Columns of "   1234567 ±  3%", and of the same behind a change. */
#define BASE_COLUMNS    16
#define CHANGED_COLUMNS 27
#define VALUE_COLUMNS   10
#define CHANGE_COLUMNS  11
/* A spread that rounds to less goes without saying in this format. */
#define MIN_SPREAD_PERCENT 2
/* Larger values and changes are printed with an exponent. */
#define MAX_PLAIN_VALUE  1e8
#define MAX_PLAIN_CHANGE 1e5

/* Columns of a table that stand in one block, the base first. */
struct block {
	const struct table *table;
	size_t *columns;
	size_t nr_columns;
};

static size_t base_column(const struct table *table, size_t column)
{
	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct cell *base = table->rows[i].cells[column].base;

		if (base)
			return (size_t)(base - table->rows[i].cells);
	}
	return column;
}

/* At most @nr_columns of a name, on the right of them. */
static void print_name(FILE *out, const char *label, const char *config, size_t nr_columns)
{
	char name[2 * 512 + 4];
	size_t nr_taken = 0, end = 0;

	snprintf(name, sizeof(name), "%s%s%s", label, *label ? ":" : "", config);
	for (; name[end]; end++) {
		if (((unsigned char)name[end] & 0xc0) != 0x80 && nr_taken++ == nr_columns)
			break;
	}
	name[end] = '\0';
	layout_right(out, name, nr_columns);
}

static const char *label_of(const struct comparison *comparison, const struct column *column)
{
	return comparison->nr_runs > 1 ? comparison->runs[column->run].label : "";
}

/* A word of the line of parameters: without spaces, which part nothing there. */
static void print_word(FILE *out, const char *separator, const char *word)
{
	fputs(separator, out);
	for (; *word; word++)
		fputc(*word == ' ' ? '-' : *word, out);
}

/* The machine and the test, in the order of their names, as far as they are known. */
static void print_parameters(const struct comparison *comparison, const struct block *block,
			     FILE *out)
{
	const struct column *base = &block->table->columns[block->columns[0]];
	const struct bench_environment *e = &comparison->runs[base->run].result->environment;
	const struct {
		const char *name;
		const char *value;
	} parameters[] = {
		{ "cgroup", e->cgroup },
		{ "compiler", e->compiler },
		{ "cpufreq_governor", e->governor },
		{ "kernel", e->kernel },
		{ "meter", block->table->meter },
		{ "target", block->table->target },
		{ "tbox_group", e->cpu },
		{ "testcase", block->table->workload },
	};

	layout_rule(out, '=', 89);
	for (int is_value = 0; is_value < 2; is_value++) {
		const char *separator = is_value ? "  " : "";

		for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
			if (!*parameters[i].value)
				continue;
			print_word(out, separator,
				   is_value ? parameters[i].value : parameters[i].name);
			separator = "/";
		}
		fputs(is_value ? "\n\n" : ":\n", out);
	}
	fputs("config: \n", out);
	for (size_t i = 0; i < block->nr_columns; i++) {
		const struct column *column = &block->table->columns[block->columns[i]];
		const char *label = label_of(comparison, column);

		fprintf(out, "  %s%s%s\n", label, *label ? ":" : "", column->config);
	}
	fputc('\n', out);
}

/* Panel: the base and columns @first to @end - 1 of the block. */
static void print_head(const struct comparison *comparison, const struct block *block, size_t first,
		       size_t end, FILE *out)
{
	const struct column *columns = block->table->columns, *base = &columns[block->columns[0]];

	print_name(out, label_of(comparison, base), base->config, BASE_COLUMNS);
	fputc(' ', out);
	for (size_t i = first; i < end; i++) {
		const struct column *column = &columns[block->columns[i]];

		print_name(out, label_of(comparison, column), column->config, CHANGED_COLUMNS);
		fputc(' ', out);
	}
	fputs("\n----------------", out);
	for (size_t i = first; i < end; i++)
		fputs(" ---------------------------", out);
	fputs(" \n         %stddev", out);
	for (size_t i = first; i < end; i++)
		fputs("     %change         %stddev", out);
	fputs("\n             \\  ", out);
	for (size_t i = first; i < end; i++)
		fputs("        |                \\  ", out);
	fputc('\n', out);
}

static void print_value(FILE *out, const struct cell *cell, double scale, size_t nr_columns)
{
	char number[LAYOUT_NUMBER_BYTES];
	double value = cell->statistics.mean * scale;
	double spread = round(cell->statistics.coefficient_percent);

	if (value >= MAX_PLAIN_VALUE)
		snprintf(number, sizeof(number), "%.4g", value);
	else
		layout_number(value, value >= 999.995 ? 0 : 2, 0, number);
	layout_right(out, number, nr_columns);
	if (isfinite(spread) && spread >= MIN_SPREAD_PERCENT)
		fprintf(out, " \xc2\xb1%3.0f%%", spread);
	else
		fputs("      ", out);
}

static void print_change(FILE *out, const struct cell *cell)
{
	char number[LAYOUT_NUMBER_BYTES];
	double change = cell->bootstrap.change_percent;

	if (!cell->base)
		layout_right(out, "", CHANGE_COLUMNS);
	else if (!cell->bootstrap.has_change)
		layout_right(out, "n/a", CHANGE_COLUMNS);
	else if (fabs(change) >= MAX_PLAIN_CHANGE)
		fprintf(out, "%+*.1e%%", CHANGE_COLUMNS - 1, change);
	else
		fprintf(out, "%*s%%", CHANGE_COLUMNS - 1, layout_number(change, 1, true, number));
}

/* "pft.faults/cpu-3", "fork.time_per_fork.us" */
static void print_metric(FILE *out, const char *workload, const struct row *row, const char *unit)
{
	print_word(out, "", workload);
	fputc('.', out);
	for (const char *c = row->name; *c; c++)
		fputc(*c == ' ' ? '_' : *c, out);
	if (!units_is_told(row, unit) && strncmp(row->series->metric, unit, strlen(unit)))
		print_word(out, ".", unit);
}

static void print_row(const struct block *block, const struct row *row, size_t first, size_t end,
		      FILE *out)
{
	const struct cell *base = &row->cells[block->columns[0]];
	const char *unit;
	double scale = units_scale(block->table, row, &unit);

	if (base->series)
		print_value(out, base, scale, VALUE_COLUMNS);
	else
		layout_right(out, "not measured", BASE_COLUMNS);
	for (size_t i = first; i < end; i++) {
		const struct cell *cell = &row->cells[block->columns[i]];

		if (!cell->series) {
			layout_right(out, "not measured", CHANGED_COLUMNS + 1);
			continue;
		}
		print_change(out, cell);
		print_value(out, cell, scale, CHANGED_COLUMNS + 1 - CHANGE_COLUMNS - 6);
	}
	fputs("  ", out);
	print_metric(out, block->table->workload, row, unit);
	fputc('\n', out);
}

static const struct {
	enum cpu_time_kind kind;
	const char *name;
} times[] = {
	{ CPU_ELAPSED, "elapsed_time" },
	{ CPU_SYSTEM, "system_time" },
	{ CPU_USER, "user_time" },
};

/* Seconds of a run have no verdict: the change is that of the means alone. */
static void print_times(const struct block *block, size_t first, size_t end, FILE *out)
{
	const struct column *columns = block->table->columns;

	for (size_t t = 0; t < sizeof(times) / sizeof(times[0]); t++) {
		const struct cpu_time *base = &columns[block->columns[0]].times[times[t].kind];
		bool is_short = base->mean_s < 1;
		double scale = is_short ? 1e3 : 1;

		if (!columns[block->columns[0]].has_times)
			return;
		fprintf(out, "%*.2f      ", VALUE_COLUMNS, base->mean_s * scale);
		for (size_t i = first; i < end; i++) {
			const struct column *column = &columns[block->columns[i]];
			double mean_s = column->times[times[t].kind].mean_s;

			if (!column->has_times)
				layout_right(out, "not measured", CHANGED_COLUMNS + 1);
			else if (base->mean_s > 0)
				fprintf(out, "%+*.1f%%%*.2f      ", CHANGE_COLUMNS - 1,
					100 * mean_s / base->mean_s - 100, VALUE_COLUMNS + 1,
					mean_s * scale);
			else
				fprintf(out, "%*s%*.2f      ", CHANGE_COLUMNS, "n/a",
					VALUE_COLUMNS + 1, mean_s * scale);
		}
		print_word(out, "  ", block->table->workload);
		fprintf(out, ".time.%s%s\n", times[t].name, is_short ? ".ms" : "");
	}
}

static void print_block(const struct comparison *comparison, const struct block *block,
			const struct render_options *options, FILE *out)
{
	size_t room = options->nr_columns ? options->nr_columns : 80, nr_fitting, end, first = 1;

	/* The robots' own mails have two beside the base before they care for width. */
	nr_fitting = room < BASE_COLUMNS ? 0 : (room - BASE_COLUMNS) / (CHANGED_COLUMNS + 1);
	if (nr_fitting < 2)
		nr_fitting = 2;
	print_parameters(comparison, block, out);
	do {
		end = first + nr_fitting;
		if (end > block->nr_columns)
			end = block->nr_columns;
		print_head(comparison, block, first, end, out);
		for (size_t i = 0; i < block->table->nr_rows; i++)
			print_row(block, &block->table->rows[i], first, end, out);
		print_times(block, first, end, out);
		fputc('\n', out);
		first = end;
	} while (first < block->nr_columns);
}

static int print_table(const struct comparison *comparison, const struct table *table,
		       const struct render_options *options, FILE *out)
{
	struct block block = { .table = table,
			       .columns = calloc(table->nr_columns + 1, sizeof(*block.columns)) };

	if (!block.columns)
		return -ENOMEM;
	for (size_t base = 0; base < table->nr_columns; base++) {
		if (base_column(table, base) != base)
			continue;
		block.columns[0] = base;
		block.nr_columns = 1;
		for (size_t i = 0; i < table->nr_columns; i++) {
			if (i != base && base_column(table, i) == base)
				block.columns[block.nr_columns++] = i;
		}
		print_block(comparison, &block, options, out);
	}
	free(block.columns);
	return 0;
}

static int render(const struct comparison *comparison, const struct render_options *options,
		  FILE *out, struct report_error *error)
{
	if (!options->plain)
		surroundings_head(comparison, options, out);
	for (size_t i = 0; i < comparison->nr_tables; i++) {
		const struct table *table = &comparison->tables[i];
		int ret = print_table(comparison, table, options, out);

		if (ret)
			return ret;
		if (options->plain)
			continue;
		surroundings_verdicts(comparison, table, options, PLUS_IS_LARGER, out);
		fputc('\n', out);
	}
	surroundings_foot(comparison, options, PLUS_IS_LARGER, out);
	return profile_tables_print(comparison, out, error);
}

const struct renderer render_lkp = {
	.name = "lkp",
	.description = "as a kernel robot's mail, %stddev beside %change, + is a larger value",
	.render = render,
};
