/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line for each configuration of each metric, for spreadsheets and scripts (RFC 4180). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/params.h"
#include "report/renderer.h"

static void print_text(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* Preceded by its comma; what is undefined is empty. */
static void print_number(FILE *out, double value)
{
	fputc(',', out);
	if (isfinite(value))
		fprintf(out, "%.17g", value);
}

static void print_field(FILE *out, const char *text)
{
	fputc(',', out);
	print_text(out, text);
}

static int print_params(FILE *out, const struct bench_series *series)
{
	char *text = NULL;
	size_t nr_bytes;
	FILE *memory = open_memstream(&text, &nr_bytes);

	if (!memory)
		return -ENOMEM;
	for (size_t i = 0; i < series->nr_params; i++) {
		fprintf(memory, "%s%s=", i ? ";" : "", series->params[i].name);
		params_print_value(&series->params[i], memory);
	}
	if (fclose(memory)) {
		free(text);
		return -ENOMEM;
	}
	print_field(out, text);
	free(text);
	return 0;
}

static const char *base_name(const struct table *table, const struct row *row,
			     const struct cell *cell)
{
	return cell->base ? table->columns[cell->base - row->cells].config : "";
}

static void print_change(FILE *out, const struct cell *cell)
{
	const struct bootstrap *b = &cell->bootstrap;
	bool has_interval = cell->base && b->has_interval;

	print_number(out, cell->base && b->has_change ? b->change_percent : NAN);
	print_number(out, has_interval ? b->low_percent : NAN);
	print_number(out, has_interval ? b->high_percent : NAN);
	print_number(out, cell->base ? cell->noise_percent : NAN);
	print_field(out, verdict_name(cell->verdict));
	if (cell->verdict == VERDICT_UNCLEAR)
		fprintf(out, ",%zu", cell->runs_needed);
	else
		fputc(',', out);
}

static int print_cell(FILE *out, const struct run *run, const struct table *table,
		      const struct row *row, size_t column)
{
	const struct cell *cell = &row->cells[column];
	const struct statistics *s = &cell->statistics;

	fputs("measured", out);
	print_field(out, run->label);
	print_field(out, table->workload);
	print_field(out, table->target);
	print_field(out, table->meter);
	print_field(out, row->series->metric);
	if (print_params(out, row->series))
		return -ENOMEM;
	print_field(out, row->series->unit);
	print_field(out, row->series->better == BENCH_LOWER ? "lower" : "higher");
	print_field(out, table->columns[column].config);
	fprintf(out, ",%zu", s->nr_samples);
	print_number(out, s->mean);
	print_number(out, s->standard_error_percent);
	print_number(out, s->stddev);
	print_number(out, s->min);
	print_number(out, s->median);
	print_number(out, s->max);
	print_field(out, base_name(table, row, cell));
	print_change(out, cell);
	fputs(",\r\n", out);
	return 0;
}

static void print_skipped(FILE *out, const struct run *run)
{
	for (size_t i = 0; i < run->result->nr_skipped; i++) {
		fputs("skipped", out);
		print_field(out, run->label);
		print_field(out, run->result->skipped[i].what);
		fputs(",,,,,,,,,,,,,,,,,,,,,", out);
		print_field(out, run->result->skipped[i].why);
		fputs("\r\n", out);
	}
}

static int render(const struct comparison *comparison, const struct render_options *options,
		  FILE *out, struct report_error *error)
{
	(void)options;
	(void)error;
	fputs("record,result,workload,target,meter,metric,params,unit,better,config,samples,mean,"
	      "standard_error_percent,stddev,min,median,max,base,delta_percent,ci95_low_percent,"
	      "ci95_high_percent,noise_percent,verdict,runs_needed,why\r\n",
	      out);
	for (size_t i = 0; i < comparison->nr_tables; i++) {
		const struct table *table = &comparison->tables[i];

		for (size_t j = 0; j < table->nr_rows; j++) {
			for (size_t k = 0; k < table->nr_columns; k++) {
				const struct run *run = &comparison->runs[table->columns[k].run];

				if (table->rows[j].cells[k].series &&
				    print_cell(out, run, table, &table->rows[j], k))
					return -ENOMEM;
			}
		}
	}
	for (size_t i = 0; i < comparison->nr_runs; i++)
		print_skipped(out, &comparison->runs[i]);
	return 0;
}

const struct renderer render_csv = {
	.name = "csv",
	.description = "a line for each configuration, delta_percent + is a larger value",
	.render = render,
};
