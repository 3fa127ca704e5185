/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables for a README or an issue tracker. One result: a table for each row,
 * with a line for each configuration. Several: a column for each result.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/layout.h"
#include "report/surroundings.h"
#include "report/units.h"

/* Text from outside must not become markup. */
static void print_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_{}[]<>|#&~", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void print_change(FILE *out, const struct cell *cell)
{
	char text[LAYOUT_NUMBER_BYTES];
	double change = cell->bootstrap.has_change ? cell->bootstrap.change_percent : NAN;

	fprintf(out, "%s %%", layout_number(change, 2, 1, text));
}

static void print_mean(FILE *out, const struct cell *cell, double scale)
{
	char mean[LAYOUT_NUMBER_BYTES], error[LAYOUT_NUMBER_BYTES];

	fprintf(out, "%s +- %s %%", layout_number(cell->statistics.mean * scale, 2, 0, mean),
		layout_number(cell->statistics.standard_error_percent, 2, 0, error));
}

static void print_verdict(FILE *out, const struct cell *cell)
{
	char text[64];

	fputs(verdict_name(cell->verdict), out);
	if (cell->verdict == VERDICT_UNCLEAR)
		fprintf(out, " (%s)", surroundings_runs(cell, text, sizeof(text)));
}

/* "| child | 16.28 +- 1.10 % | -2.86 % | -5.60 to -0.11 | 0.52 | saves |" */
static void print_line(FILE *out, const struct column *column, const struct cell *cell,
		       double scale, bool plain)
{
	char low[LAYOUT_NUMBER_BYTES], high[LAYOUT_NUMBER_BYTES];

	fputs("| ", out);
	print_escaped(out, column->config);
	fputs(" | ", out);
	if (!cell->series) {
		fprintf(out, "not measured | |%s\n", plain ? "" : " | | |");
		return;
	}
	print_mean(out, cell, scale);
	fputs(" | ", out);
	if (cell->base)
		print_change(out, cell);
	fputs(" |", out);
	if (plain) {
		fputc('\n', out);
		return;
	}
	if (cell->base && cell->bootstrap.has_interval)
		fprintf(out, " %s to %s", layout_number(cell->bootstrap.low_percent, 2, 1, low),
			layout_number(cell->bootstrap.high_percent, 2, 1, high));
	fputs(" | ", out);
	if (cell->base)
		fputs(layout_number(cell->noise_percent, 2, 0, low), out);
	fputs(" | ", out);
	print_verdict(out, cell);
	fputs(" |\n", out);
}

static void print_row(const struct table *table, const struct row *row, double scale, bool plain,
		      FILE *out)
{
	fputs("| configuration | mean +- standard error | change |", out);
	fputs(plain ? "\n|---|---:|---:|\n"
		    : " 95 % interval | noise | verdict |\n"
		      "|---|---:|---:|---|---:|---|\n",
	      out);
	for (size_t i = 0; i < table->nr_columns; i++)
		print_line(out, &table->columns[i], &row->cells[i], scale, plain);
}

/* "| 16.28 +- 1.10 %, -2.86 % (saves) " */
static void print_cell_of_several(FILE *out, const struct cell *cell, double scale, bool plain)
{
	fputs(" ", out);
	if (!cell->series) {
		fputs("not measured |", out);
		return;
	}
	print_mean(out, cell, scale);
	if (cell->base) {
		fputs(", ", out);
		print_change(out, cell);
	}
	if (cell->base && !plain)
		fprintf(out, " (%s)", verdict_name(cell->verdict));
	fputs(" |", out);
}

static bool is_first_of_config(const struct table *table, size_t column)
{
	for (size_t i = 0; i < column; i++) {
		if (strcmp(table->columns[i].config, table->columns[column].config) == 0)
			return false;
	}
	return true;
}

static void print_config_of_several(const struct comparison *comparison, const struct table *table,
				    const struct row *row, const char *config, double scale,
				    bool plain, FILE *out)
{
	static const struct cell none = { 0 };

	fputs("| ", out);
	print_escaped(out, config);
	fputs(" |", out);
	for (size_t run = 0; run < comparison->nr_runs; run++) {
		const struct cell *cell = &none;

		for (size_t i = 0; i < table->nr_columns; i++) {
			if (table->columns[i].run == run &&
			    strcmp(table->columns[i].config, config) == 0)
				cell = &row->cells[i];
		}
		print_cell_of_several(out, cell, scale, plain);
	}
	fputc('\n', out);
}

static void print_row_of_several(const struct comparison *comparison, const struct table *table,
				 const struct row *row, double scale, bool plain, FILE *out)
{
	fputs("| configuration |", out);
	for (size_t run = 0; run < comparison->nr_runs; run++) {
		fputc(' ', out);
		print_escaped(out, comparison->runs[run].label);
		fputs(" |", out);
	}
	fputs("\n|---|", out);
	for (size_t run = 0; run < comparison->nr_runs; run++)
		fputs("---:|", out);
	fputc('\n', out);
	for (size_t i = 0; i < table->nr_columns; i++) {
		if (is_first_of_config(table, i))
			print_config_of_several(comparison, table, row, table->columns[i].config,
						scale, plain, out);
	}
}

static void print_profile(const struct bench_profile *profile, FILE *out)
{
	fputs("\n### profile of ", out);
	print_escaped(out, profile->workload);
	fprintf(out, " (%s), ", profile->target);
	print_escaped(out, profile->config);
	fprintf(out,
		": percent of all %" PRIu64 "\n\n| file | percent | count |\n|---|---:|---:|\n",
		profile->total);
	for (size_t i = 0; i < profile->nr_files; i++) {
		const struct bench_file *file = &profile->files[i];

		fputs("| ", out);
		print_escaped(out, file->path);
		fprintf(out, " | %.4f | %" PRIu64 " |\n",
			profile->total ? 100 * (double)file->count / (double)profile->total : 0,
			file->count);
	}
}

static void print_around(const struct comparison *comparison, const struct render_options *options,
			 bool is_head, FILE *out)
{
	char *text = NULL;
	size_t nr_bytes;
	FILE *memory = open_memstream(&text, &nr_bytes);

	if (!memory)
		return;
	if (is_head)
		surroundings_head(comparison, options, memory);
	else
		surroundings_foot(comparison, options, PLUS_IS_LARGER, memory);
	if (fclose(memory) == 0)
		print_escaped(out, text);
	free(text);
}

static int render(const struct comparison *comparison, const struct render_options *options,
		  FILE *out, struct report_error *error)
{
	(void)error;
	if (!options->plain)
		print_around(comparison, options, true, out);
	for (size_t i = 0; i < comparison->nr_tables; i++) {
		const struct table *table = &comparison->tables[i];

		for (size_t j = 0; j < table->nr_rows; j++) {
			const struct row *row = &table->rows[j];
			const char *unit;
			double scale = units_scale(table, row, &unit);

			fputs("### ", out);
			print_escaped(out, table->title);
			fputs(", ", out);
			print_escaped(out, row->name);
			fputs(" (", out);
			print_escaped(out, unit);
			fprintf(out, ", %s is better; %s, %s meter)\n\n",
				row->series->better == BENCH_LOWER ? "lower" : "higher",
				table->target, table->meter);
			if (comparison->nr_runs == 1)
				print_row(table, row, scale, options->plain, out);
			else
				print_row_of_several(comparison, table, row, scale, options->plain,
						     out);
			fputc('\n', out);
		}
	}
	print_around(comparison, options, false, out);
	for (size_t i = 0; i < comparison->nr_runs; i++) {
		for (size_t j = 0; j < comparison->runs[i].result->nr_profiles; j++)
			print_profile(comparison->runs[i].result->profiles[j], out);
	}
	return 0;
}

const struct renderer render_markdown = {
	.name = "markdown",
	.description = "tables for a README or an issue, + is a larger value",
	.render = render,
};
