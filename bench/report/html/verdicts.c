/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer, before everything else: what costs, and how sure that is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/direction.h"
#include "report/html/page.h"

/* So many columns of the overview have room for a verdict beside its change. */
#define ROOMY_COLUMNS 6

void html_column_name(const struct html_page *page, const struct column *column)
{
	if (page->comparison->nr_runs > 1) {
		html_text(page->out, page->comparison->runs[column->run].label);
		fputs(": ", page->out);
	}
	html_text(page->out, column->config);
}

void html_verdict(FILE *out, enum verdict verdict)
{
	if (verdict != VERDICT_NONE)
		fprintf(out, "<span class=\"verdict %s\">%s</span>", verdict_name(verdict),
			verdict_name(verdict));
}

double html_change(const struct cell *cell)
{
	if (!cell->base || !cell->bootstrap.has_change)
		return NAN;
	return direction_percent(cell->bootstrap.change_percent, cell->series->better,
				 PLUS_IS_SLOWER);
}

/* Of every cell of the overview that is judged, controls not among them; returns how many. */
static size_t count_verdicts(const struct comparison *comparison, size_t *nr_verdicts)
{
	size_t nr_judged = 0;

	for (size_t i = 0; i < comparison->nr_tables; i++) {
		const struct table *table = &comparison->tables[i];

		for (size_t j = 0; j < table->nr_rows; j++) {
			if (html_is_side(table, &table->rows[j]))
				continue;
			for (size_t k = 0; k < table->nr_columns; k++) {
				const struct cell *cell = &table->rows[j].cells[k];

				if (table->columns[k].is_control || !cell->base)
					continue;
				nr_verdicts[cell->verdict]++;
				nr_judged += cell->bootstrap.has_interval;
			}
		}
	}
	return nr_judged;
}

static void print_counts(const struct html_page *page)
{
	static const struct {
		enum verdict verdict;
		const char *meaning;
	} kinds[] = {
		{ VERDICT_COSTS, "worse, and surely so" },
		{ VERDICT_SAVES, "better, and surely so" },
		{ VERDICT_EQUAL, "known to be within" },
		{ VERDICT_UNCLEAR, "more runs would tell" },
	};
	const struct comparison *comparison = page->comparison;
	size_t nr_verdicts[VERDICT_UNCLEAR + 1] = { 0 }, nr_judged;

	nr_judged = count_verdicts(comparison, nr_verdicts);
	fputs("<dl class=\"counts\">", page->out);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *name = verdict_name(kinds[i].verdict);

		fprintf(page->out, "<div class=\"%s\"><dt>%s</dt><dd><b>%zu</b> <span>%s", name,
			name, nr_verdicts[kinds[i].verdict], kinds[i].meaning);
		if (kinds[i].verdict == VERDICT_EQUAL)
			fprintf(page->out, " \xc2\xb1%g\xc2\xa0%%",
				comparison->options.effect_percent);
		fputs("</span></dd></div>", page->out);
	}
	fprintf(page->out, "</dl>\n<p>%zu %s", nr_judged,
		nr_judged == 1 ? "comparison" : "comparisons");
	if (comparison->nr_comparisons > nr_judged)
		fprintf(page->out, ", and %zu of parts of prices in the tables below",
			comparison->nr_comparisons - nr_judged);
	fprintf(page->out, "; chance alone would give about %.2f false verdicts%s.</p>\n",
		comparison->false_verdicts,
		comparison->options.adjust_holm
			? " among all of them (adjusted by Holm&#39;s method)"
			: "");
}

/* A column of the overview: a configuration of a result, in whatever table it is. */
static const struct column *find_column(const struct table *table, const struct column *like)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		if (table->columns[i].run == like->run &&
		    strcmp(table->columns[i].config, like->config) == 0)
			return &table->columns[i];
	}
	return NULL;
}

static bool is_compared(const struct table *table, const struct column *column)
{
	for (size_t i = 0; i < table->nr_rows; i++) {
		if (table->rows[i].cells[column - table->columns].base)
			return true;
	}
	return false;
}

static bool is_same_kind(const struct table *left, const struct table *right)
{
	return strcmp(left->target, right->target) == 0 && strcmp(left->meter, right->meter) == 0;
}

/* The columns of all tables of a kind, that is of one target and meter. */
static size_t collect_columns(const struct comparison *comparison, const struct table *kind,
			      const struct column **columns)
{
	size_t nr_columns = 0;

	/* The controls come last. */
	for (int control = 0; control < 2; control++) {
		for (size_t i = 0; i < comparison->nr_tables; i++) {
			const struct table *table = &comparison->tables[i];

			for (size_t j = 0; is_same_kind(table, kind) && j < table->nr_columns;
			     j++) {
				const struct column *column = &table->columns[j];
				bool known = column->is_control != control ||
					     !is_compared(table, column);

				for (size_t k = 0; k < nr_columns && !known; k++)
					known = columns[k]->run == column->run &&
						strcmp(columns[k]->config, column->config) == 0;
				if (!known)
					columns[nr_columns++] = column;
			}
		}
	}
	return nr_columns;
}

static void print_cell(const struct html_page *page, const struct table *table,
		       const struct row *row, const struct column *like)
{
	const struct column *column = find_column(table, like);
	const struct cell *cell = column ? &row->cells[column - table->columns] : NULL;
	char number[HTML_NUMBER_BYTES];

	if (!cell || !cell->series) {
		fputs("<td class=\"none\">not measured</td>", page->out);
	} else if (!cell->base) {
		fprintf(page->out, "<td class=\"none\">%s</td>", like->is_control ? "" : "base");
	} else if (like->is_control) {
		fprintf(page->out, "<td class=\"control\">%s%s</td>",
			isfinite(cell->noise_percent) ? "\xc2\xb1" : "",
			html_percent(cell->noise_percent, number) +
				(isfinite(cell->noise_percent) && *number == '+'));
	} else {
		fprintf(page->out, "<td class=\"%s\"><b>%s</b> ", verdict_name(cell->verdict),
			html_percent(html_change(cell), number));
		html_verdict(page->out, cell->verdict);
		fputs("</td>", page->out);
	}
}

static void print_rows(const struct html_page *page, size_t index, const struct column **columns,
		       size_t nr_columns)
{
	const struct table *table = &page->comparison->tables[index];

	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct row *row = &table->rows[i];

		if (html_is_side(table, row))
			continue;
		fprintf(page->out, "<tr><th scope=\"row\"><a href=\"#workload-%zu\">", index);
		html_text(page->out, table->workload);
		fputs("</a> <span>", page->out);
		html_text(page->out, row->name);
		fputs("</span></th>", page->out);
		for (size_t j = 0; j < nr_columns; j++)
			print_cell(page, table, row, columns[j]);
		fputs("</tr>\n", page->out);
	}
}

/* The overview of all tables of the kind of table @first. */
static void print_overview(const struct html_page *page, size_t first)
{
	const struct comparison *comparison = page->comparison;
	const struct table *table = &comparison->tables[first];
	size_t nr_columns = 0;
	const struct column **columns;

	for (size_t i = first; i < comparison->nr_tables; i++)
		nr_columns += comparison->tables[i].nr_columns;
	columns = calloc(nr_columns + 1, sizeof(const struct column *));
	if (!columns)
		return;
	nr_columns = collect_columns(comparison, table, columns);
	fprintf(page->out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		"aria-labelledby=\"overview-%zu\">"
		"<table class=\"overview%s\"><caption id=\"overview-%zu\"><b>Target %s, %s meter</b>: "
		"change against the base, + is %s</caption>\n"
		"<thead><tr><th scope=\"col\">workload</th>",
		first, nr_columns <= ROOMY_COLUMNS ? " roomy" : "", first, table->target,
		table->meter, html_is_price(table) ? "more instructions" : "slower or more");
	for (size_t i = 0; i < nr_columns; i++) {
		fputs("<th scope=\"col\">", page->out);
		html_column_name(page, columns[i]);
		fputs(columns[i]->is_control ? " <span>(noise)</span></th>" : "</th>", page->out);
	}
	fputs("</tr></thead>\n<tbody>\n", page->out);
	for (size_t i = first; i < comparison->nr_tables; i++) {
		if (is_same_kind(&comparison->tables[i], table))
			print_rows(page, i, columns, nr_columns);
	}
	fputs("</tbody></table></div>\n", page->out);
	free(columns);
}

static bool is_first_of_kind(const struct comparison *comparison, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (is_same_kind(&comparison->tables[i], &comparison->tables[index]))
			return false;
	}
	return true;
}

void html_verdicts(const struct html_page *page)
{
	const struct comparison *comparison = page->comparison;

	fputs("<section id=\"verdicts\"><h2>Verdicts</h2>\n", page->out);
	html_plots_explain(page->out);
	for (size_t i = 0; i < comparison->nr_warnings; i++) {
		fputs("<p class=\"flag\">", page->out);
		html_text(page->out, comparison->warnings[i]);
		fputs("</p>\n", page->out);
	}
	if (!comparison->nr_tables)
		fputs("<p>Nothing was measured.</p>\n", page->out);
	else
		print_counts(page);
	for (size_t i = 0; i < comparison->nr_tables; i++) {
		if (is_first_of_kind(comparison, i))
			print_overview(page, i);
	}
	fputs("</section>\n", page->out);
}
