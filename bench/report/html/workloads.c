/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workload by workload: each metric as a figure beside its table. */
#include <math.h>
#include <string.h>

#include "report/direction.h"
#include "report/html/figures.h"
#include "report/surroundings.h"
#include "report/units.h"

static void print_value(FILE *out, const struct cell *cell, double scale)
{
	char value[HTML_NUMBER_BYTES], error[HTML_NUMBER_BYTES];

	fprintf(out, "<td>%s", html_value(cell->statistics.mean * scale, value));
	if (isfinite(cell->statistics.standard_error_percent))
		fprintf(out, " <span>\xc2\xb1\xe2\x80\xaf%s</span>",
			html_percent(cell->statistics.standard_error_percent, error) + 1);
	fputs("</td>", out);
}

static void print_interval(FILE *out, const struct cell *cell)
{
	char text[2][HTML_NUMBER_BYTES];
	double low, high;

	fputs("<td>", out);
	if (cell->base && cell->bootstrap.has_interval) {
		direction_interval(&cell->bootstrap, cell->series->better, PLUS_IS_SLOWER, &low,
				   &high);
		fprintf(out, "%s to %s", html_percent(low, text[0]), html_percent(high, text[1]));
	}
	fputs("</td><td>", out);
	if (cell->base && isfinite(cell->noise_percent))
		fputs(html_percent(cell->noise_percent, text[0]) + 1, out);
	fputs("</td>", out);
}

static void print_judgement(FILE *out, const struct cell *cell, bool is_control)
{
	char text[64];

	fputs("<td class=\"words\">", out);
	html_verdict(out, cell->verdict);
	if (is_control)
		fputs(" <span>control</span>", out);
	else if (cell->verdict == VERDICT_UNCLEAR && cell->bootstrap.has_change)
		fprintf(out, " <span>%s</span>", surroundings_runs(cell, text, sizeof(text)));
	else if (cell->base && !cell->bootstrap.has_change)
		fputs(" <span>no ratio: a mean is 0</span>", out);
	else if (cell->base && isfinite(cell->noise_percent) && cell->verdict != VERDICT_EQUAL &&
		 fabs(cell->bootstrap.change_percent) <= cell->noise_percent)
		fputs(" <span>within the noise</span>", out);
	fputs("</td>", out);
}

static void print_cell(const struct html_page *page, const struct column *column,
		       const struct cell *cell, double scale)
{
	char text[HTML_NUMBER_BYTES];
	FILE *out = page->out;

	fputs("<tr><th scope=\"row\">", out);
	html_column_name(page, column);
	fputs("</th>", out);
	if (!cell->series) {
		fprintf(out, "<td class=\"none\" colspan=\"%d\">not measured</td></tr>\n",
			page->plain ? 2 : 5);
		return;
	}
	print_value(out, cell, scale);
	fprintf(out, "<td>%s</td>",
		cell->base ? html_percent(html_change(cell), text) : "<span>base</span>");
	if (!page->plain) {
		print_interval(out, cell);
		print_judgement(out, cell, column->is_control);
	}
	fputs("</tr>\n", out);
}

/* The unit, unless the metric's name says it. */
static void print_unit(const struct row *row, const char *unit, FILE *out)
{
	if (strcmp(unit, row->series->metric)) {
		fputs(", ", out);
		html_text(out, unit);
	}
}

static void print_metric_row(const struct html_page *page, const struct table *table,
			     const struct row *row, bool has_head)
{
	const char *unit;
	double scale = units_scale(table, row, &unit);
	FILE *out = page->out;

	fputs("<tbody>", out);
	if (has_head) {
		fprintf(out, "<tr class=\"head\"><th scope=\"rowgroup\" colspan=\"%d\">",
			page->plain ? 3 : 6);
		html_text(out, row->name);
		print_unit(row, unit, out);
		fputs("</th></tr>\n", out);
	}
	for (size_t j = 0; j < table->nr_columns; j++)
		print_cell(page, &table->columns[j], &row->cells[j], scale);
	fputs("</tbody>\n", out);
}

static void print_metric_table(const struct html_page *page, const struct table *table,
			       size_t first, size_t end)
{
	FILE *out = page->out;

	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", out);
	html_text(out, table->rows[first].series->metric);
	fputs(" of ", out);
	html_text(out, table->workload);
	fputs("\"><table>\n<thead><tr><th scope=\"col\">configuration</th><th scope=\"col\">mean "
	      "\xc2\xb1 standard error</th><th scope=\"col\">change</th>",
	      out);
	if (!page->plain)
		fputs("<th scope=\"col\">95\xc2\xa0% interval</th><th scope=\"col\">noise</th>"
		      "<th scope=\"col\" class=\"words\">verdict</th>",
		      out);
	fputs("</tr></thead>\n", out);
	for (size_t i = first; i < end; i++)
		print_metric_row(page, table, &table->rows[i], end - first > 1);
	fputs("</table></div>\n", out);
}

static void print_figures(const struct html_page *page, const struct table *table, size_t first,
			  size_t end)
{
	if (page->plain)
		return;
	fputs("<div class=\"figures\">", page->out);
	if (end - first > 1 && html_varying(table, first, end)) {
		html_metric_lines(page, table, first, end, true);
	} else {
		for (size_t i = first; i < end; i++)
			html_figure_changes(page, table, &table->rows[i]);
	}
	fputs("</div>", page->out);
}

/* With its unit, if all that follows is in it. */
static void print_heading(const struct html_page *page, const struct table *table,
			  const struct row *row, bool is_alone)
{
	const char *unit;

	units_scale(table, row, &unit);
	fputs("<h4>", page->out);
	html_text(page->out, is_alone ? row->name : row->series->metric);
	if (is_alone)
		print_unit(row, unit, page->out);
	fprintf(page->out, " <span>%s is better</span></h4>\n",
		row->series->better == BENCH_LOWER ? "lower" : "higher");
}

static void print_metrics(const struct html_page *page, const struct table *table)
{
	size_t end;

	for (size_t first = 0; first < table->nr_rows; first = end) {
		const struct row *row = &table->rows[first];
		bool is_price = html_is_price(table) &&
				strncmp(row->series->metric, "instructions/", 13) == 0;

		end = html_metric_end(table, first);
		if (html_is_side(table, row))
			continue;
		print_heading(page, table, row, end - first == 1 && !is_price);
		fprintf(page->out, "<div class=\"metric%s\">", is_price ? " price" : "");
		print_figures(page, table, first, end);
		if (is_price) {
			fputs("<div class=\"tables\">", page->out);
			for (size_t i = first; i < end; i++)
				html_price(page, table, &table->rows[i]);
			fputs("</div>", page->out);
		} else {
			print_metric_table(page, table, first, end);
		}
		fputs("</div>\n", page->out);
	}
}

static void print_times(const struct html_page *page, const struct table *table)
{
	static const char *const kinds[] = { "user", "system", "elapsed" };
	char text[HTML_NUMBER_BYTES];
	FILE *out = page->out;
	bool any = false;

	for (size_t i = 0; i < table->nr_columns; i++)
		any = any || table->columns[i].has_times;
	if (!any || page->plain)
		return;
	fputs("<details><summary>Seconds of one run: user, system, elapsed</summary>\n"
	      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"seconds of one run\">"
	      "<table>\n<thead><tr><th scope=\"col\">configuration</th>",
	      out);
	for (size_t i = 0; i < NR_CPU_TIMES; i++)
		fprintf(out, "<th scope=\"col\">%s, s</th>", kinds[i]);
	fputs("</tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < table->nr_columns; i++) {
		const struct column *column = &table->columns[i];

		if (!column->has_times)
			continue;
		fputs("<tr><th scope=\"row\">", out);
		html_column_name(page, column);
		fputs("</th>", out);
		for (size_t j = 0; j < NR_CPU_TIMES; j++) {
			fprintf(out, "<td>%s", html_value(column->times[j].mean_s, text));
			if (isfinite(column->times[j].error_percent))
				fprintf(out, " <span>\xc2\xb1\xe2\x80\xaf%s</span>",
					html_percent(column->times[j].error_percent, text) + 1);
			fputs("</td>", out);
		}
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div></details>\n", out);
}

void html_workloads(const struct html_page *page)
{
	const struct comparison *comparison = page->comparison;
	bool any_price = false;

	if (!comparison->nr_tables)
		return;
	fputs("<section id=\"workloads\"><h2>Workloads</h2>\n", page->out);
	for (size_t i = 0; i < comparison->nr_tables; i++)
		any_price = any_price || html_is_price(&comparison->tables[i]);
	if (any_price)
		fputs("<p>The exact meter counts instructions, not time: caches, atomics and "
		      "contention do not show in them. Its prices are medians over the layouts of "
		      "the program, with their range.</p>\n",
		      page->out);
	for (size_t i = 0; i < comparison->nr_tables; i++) {
		const struct table *table = &comparison->tables[i];

		fprintf(page->out, "<section class=\"workload\" id=\"workload-%zu\"><h3>", i);
		html_text(page->out, table->title);
		fprintf(page->out, " <span>target %s, %s meter</span></h3>\n", table->target,
			table->meter);
		print_metrics(page, table);
		print_times(page, table);
		fputs("</section>\n", page->out);
	}
	fputs("</section>\n", page->out);
}
