/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of a perf user's mail: a row for each configuration, + is slower.
 * Several results give a column each, and verdicts that stand below the table.
 */
#include <math.h>
#include <string.h>

#include "report/layout.h"
#include "report/profile_table.h"
#include "report/surroundings.h"
#include "report/units.h"

/* Widths that all cells of a row of tables share. */
struct widths {
	size_t name;
	size_t mean;
	size_t error;
	size_t change;
	double scale;
};

/* 16.76, 0.87% and 2.86, which the layout puts around its own signs. */
struct parts {
	char mean[LAYOUT_NUMBER_BYTES];
	char error[LAYOUT_NUMBER_BYTES + 1];
	char change[LAYOUT_NUMBER_BYTES];
	char sign;
};

static const char *copy_number(char *text, double value)
{
	const char *number = layout_number(value, 2, 0, text);

	return number == text ? text : strcpy(text, number);
}

static void parts_of(const struct cell *cell, double scale, struct parts *parts)
{
	double change = direction_percent(cell->bootstrap.change_percent, cell->series->better,
					  PLUS_IS_SLOWER);

	copy_number(parts->mean, cell->statistics.mean * scale);
	copy_number(parts->error, cell->statistics.standard_error_percent);
	if (isfinite(cell->statistics.standard_error_percent))
		strcat(parts->error, "%");
	if (cell->base && !cell->bootstrap.has_change)
		change = NAN;
	copy_number(parts->change, fabs(change));
	/* The sign of what is printed: what rounds to zero is not faster. */
	parts->sign = change < 0 && strcmp(parts->change, "0.00") ? '-' : '+';
}

static void measure_widths(const struct table *table, const struct row *row, struct widths *widths)
{
	struct parts parts;

	widths->mean = 5;
	widths->error = 5;
	widths->change = 4;
	widths->name = 0;
	for (size_t i = 0; i < table->nr_columns; i++) {
		widths->name = layout_widen(widths->name, table->columns[i].config);
		if (!row->cells[i].series)
			continue;
		parts_of(&row->cells[i], widths->scale, &parts);
		widths->mean = layout_widen(widths->mean, parts.mean);
		widths->error = layout_widen(widths->error, parts.error);
		widths->change = layout_widen(widths->change, parts.change);
	}
}

/* "16.76 +- 0.87% [ + 0.00 % ]" */
static size_t cell_columns(const struct widths *widths)
{
	return widths->mean + strlen(" +- ") + widths->error + strlen(" [ + ") + widths->change +
	       strlen(" % ]");
}

static void print_cell(FILE *out, const struct cell *cell, const struct widths *widths)
{
	struct parts parts;

	if (!cell->series) {
		fputs("not measured", out);
		return;
	}
	parts_of(cell, widths->scale, &parts);
	layout_right(out, parts.mean, widths->mean);
	fputs(" +- ", out);
	layout_right(out, parts.error, widths->error);
	fprintf(out, " [ %c ", parts.sign);
	layout_right(out, parts.change, widths->change);
	fputs(" % ]", out);
}

static size_t printed_columns(const struct cell *cell, const struct widths *widths)
{
	return cell->series ? cell_columns(widths) : strlen("not measured");
}

static void print_title(const struct table *table, const struct row *row, const char *unit,
			size_t nr_columns, FILE *out)
{
	fprintf(out, "%s, %s", table->title, row->name);
	if (!units_is_told(row, unit))
		fprintf(out, " (%s)", unit);
	fputs(":\n", out);
	layout_rule(out, '=', nr_columns);
}

static void print_unclear(const struct table *table, const struct row *row, FILE *out)
{
	char text[64];

	for (size_t i = 0; i < table->nr_columns; i++) {
		const struct cell *cell = &row->cells[i];

		if (cell->verdict == VERDICT_UNCLEAR && cell->bootstrap.has_change)
			fprintf(out, "%s: %s\n", table->columns[i].config,
				surroundings_runs(cell, text, sizeof(text)));
	}
}

static void print_row(const struct table *table, const struct row *row,
		      const struct render_options *options, FILE *out)
{
	size_t room = options->nr_columns ? options->nr_columns : 80, nr_taken;
	char text[SURROUNDINGS_VERDICT_BYTES];
	struct widths widths;
	const char *unit;

	widths.scale = units_scale(table, row, &unit);
	measure_widths(table, row, &widths);
	nr_taken = widths.name + 2 + cell_columns(&widths);
	print_title(table, row, unit, nr_taken, out);
	for (size_t i = 0; i < table->nr_columns; i++) {
		layout_left(out, table->columns[i].config, widths.name);
		fputs(": ", out);
		print_cell(out, &row->cells[i], &widths);
		if (row->cells[i].base && !options->plain) {
			surroundings_verdict(&row->cells[i], PLUS_IS_SLOWER, text);
			fprintf(out, "%s%s", nr_taken + 1 + strlen(text) > room ? "\n    " : " ",
				text);
		}
		fputc('\n', out);
	}
	if (!options->plain)
		print_unclear(table, row, out);
	fputc('\n', out);
}

/* The first column, from @start on, that has not the configuration of an earlier one. */
static size_t next_config(const struct table *table, size_t start)
{
	for (; start < table->nr_columns; start++) {
		size_t i = 0;

		while (strcmp(table->columns[i].config, table->columns[start].config))
			i++;
		if (i == start)
			break;
	}
	return start;
}

static const struct cell *find_cell(const struct table *table, const struct row *row, size_t run,
				    const char *config)
{
	static const struct cell none = { 0 };

	for (size_t i = 0; i < table->nr_columns; i++) {
		if (table->columns[i].run == run && strcmp(table->columns[i].config, config) == 0)
			return &row->cells[i];
	}
	return &none;
}

/* Results @first to @end - 1, a column each. */
static void print_panel(const struct comparison *comparison, const struct table *table,
			const struct row *row, const struct widths *widths, size_t first,
			size_t end, FILE *out)
{
	size_t column_columns = cell_columns(widths), run, i;

	for (run = first; run < end; run++)
		column_columns = layout_widen(column_columns, comparison->runs[run].label);
	layout_left(out, "", widths->name + 2);
	for (run = first; run < end; run++) {
		fputs(run == first ? "" : "  ", out);
		layout_left(out, comparison->runs[run].label, run + 1 == end ? 0 : column_columns);
	}
	fputc('\n', out);
	for (i = next_config(table, 0); i < table->nr_columns; i = next_config(table, i + 1)) {
		layout_left(out, table->columns[i].config, widths->name);
		fputs(": ", out);
		for (run = first; run < end; run++) {
			const struct cell *cell =
				find_cell(table, row, run, table->columns[i].config);

			fputs(run == first ? "" : "  ", out);
			print_cell(out, cell, widths);
			if (run + 1 < end)
				layout_left(out, "",
					    column_columns - printed_columns(cell, widths));
		}
		fputc('\n', out);
	}
}

static void print_row_of_several(const struct comparison *comparison, const struct table *table,
				 const struct row *row, const struct render_options *options,
				 FILE *out)
{
	size_t room = options->nr_columns ? options->nr_columns : 80, nr_fitting, end;
	struct widths widths;
	const char *unit;

	widths.scale = units_scale(table, row, &unit);
	measure_widths(table, row, &widths);
	room -= widths.name + 2 < room ? widths.name + 2 : room;
	nr_fitting = (room + 2) / (cell_columns(&widths) + 2);
	if (!nr_fitting)
		nr_fitting = 1;
	print_title(table, row, unit, widths.name + 2 + cell_columns(&widths), out);
	for (size_t first = 0; first < comparison->nr_runs; first = end) {
		end = first + nr_fitting;
		if (end > comparison->nr_runs)
			end = comparison->nr_runs;
		print_panel(comparison, table, row, &widths, first, end, out);
	}
	fputc('\n', out);
}

static int render(const struct comparison *comparison, const struct render_options *options,
		  FILE *out, struct report_error *error)
{
	if (!options->plain)
		surroundings_head(comparison, options, out);
	for (size_t i = 0; i < comparison->nr_tables; i++) {
		const struct table *table = &comparison->tables[i];

		surroundings_target(comparison, table, options, out);
		for (size_t j = 0; j < table->nr_rows; j++) {
			if (comparison->nr_runs == 1)
				print_row(table, &table->rows[j], options, out);
			else
				print_row_of_several(comparison, table, &table->rows[j], options,
						     out);
		}
		if (comparison->nr_runs > 1 && !options->plain) {
			surroundings_verdicts(comparison, table, options, PLUS_IS_SLOWER, out);
			fputc('\n', out);
		}
	}
	surroundings_foot(comparison, options, PLUS_IS_SLOWER, out);
	return profile_tables_print(comparison, out, error);
}

const struct renderer render_perf = {
	.name = "perf",
	.description = "a row for each configuration, + is slower",
	.render = render,
};
