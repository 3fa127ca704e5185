/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one operation costs in instructions: median and range over the layouts, and its mode. */
#include <math.h>
#include <string.h>

#include "report/html/page.h"

/* Other rows of the same operation, each a column if it was measured. */
static const struct {
	const char *before; /* the operation's name */
	const char *after;
	const char *head;
	bool is_compared; /* with a column for what is more than the base's */
} sides[] = {
	{ "instructions", ", mode", "mode", true },
	{ "instructions", ", minimum", "minimum", false },
	{ "put off", "", "put off", false },
	{ "interrupts", "", "in interrupts", false },
	{ "rep iterations", "", "rep iterations", false },
};

#define NR_SIDES (sizeof(sides) / sizeof(sides[0]))

bool html_is_side(const struct table *table, const struct row *row)
{
	if (!html_is_price(table))
		return false;
	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct row *other = &table->rows[i];

		if (strncmp(other->series->metric, "instructions/", 13))
			continue;
		for (size_t j = 0; j < NR_SIDES; j++) {
			if (html_side(table, other, sides[j].before, sides[j].after) == row)
				return true;
		}
	}
	return false;
}

static void print_head(FILE *out, const struct row *const *rows, bool plain)
{
	fputs("<thead><tr><th scope=\"col\">configuration</th><th scope=\"col\">median</th>"
	      "<th scope=\"col\">range</th><th scope=\"col\">over base</th>"
	      "<th scope=\"col\">change</th>",
	      out);
	for (size_t i = 0; i < NR_SIDES; i++) {
		if (rows[i])
			fprintf(out, "<th scope=\"col\">%s</th>%s", sides[i].head,
				sides[i].is_compared ? "<th scope=\"col\">over base</th>" : "");
	}
	fprintf(out, "%s</tr></thead>\n",
		plain ? "" : "<th scope=\"col\" class=\"words\">verdict</th>");
}

static double over_base(const struct cell *cell)
{
	return cell->statistics.median - cell->base->statistics.median;
}

/* Of medians: the change of the mean, which the verdict is about, is in the overview. */
static double percent_over_base(const struct cell *cell)
{
	return 100 * over_base(cell) / cell->base->statistics.median;
}

/* All of a column alike: one decimal, unless it has large numbers or whole ones alone. */
static int decimals_of(const struct table *table, const struct row *row)
{
	bool whole = true;

	for (size_t i = 0; i < table->nr_columns; i++) {
		const struct statistics *statistics = &row->cells[i].statistics;

		if (!row->cells[i].series)
			continue;
		if (statistics->median >= 9999.95)
			return 0;
		whole = whole && statistics->median == floor(statistics->median);
	}
	return whole ? 0 : 1;
}

static void print_count(FILE *out, const struct cell *cell, int nr_decimals, const char *class)
{
	char text[HTML_NUMBER_BYTES];

	fprintf(out, "<td%s>%s</td>", class,
		cell->series ? html_decimals(cell->statistics.median, nr_decimals, 0, text) : "");
}

static void print_over_base(FILE *out, const struct cell *cell, int nr_decimals)
{
	char text[HTML_NUMBER_BYTES];

	fprintf(out, "<td>%s</td>",
		cell->series && cell->base ? html_decimals(over_base(cell), nr_decimals, 1, text)
					   : "");
}

static void print_range(FILE *out, const struct cell *cell, int nr_decimals)
{
	char low[HTML_NUMBER_BYTES], high[HTML_NUMBER_BYTES];

	fprintf(out, "<td class=\"range\">%s to %s</td>",
		html_decimals(cell->statistics.min, nr_decimals, 0, low),
		html_decimals(cell->statistics.max, nr_decimals, 0, high));
}

static void print_line(const struct html_page *page, const struct table *table,
		       const struct row *row, const struct row *const *rows, size_t index)
{
	int nr_decimals = decimals_of(table, row);
	const struct cell *cell = &row->cells[index];
	char text[HTML_NUMBER_BYTES];
	FILE *out = page->out;

	fputs("<tr><th scope=\"row\">", out);
	html_column_name(page, &table->columns[index]);
	fputs("</th>", out);
	if (!cell->series) {
		fputs("<td class=\"none\" colspan=\"13\">not measured</td></tr>\n", out);
		return;
	}
	print_count(out, cell, nr_decimals, " class=\"main\"");
	print_range(out, cell, nr_decimals);
	if (cell->base) {
		print_over_base(out, cell, nr_decimals);
		fprintf(out, "<td>%s</td>", html_percent(percent_over_base(cell), text));
	} else {
		fputs("<td><span>base</span></td><td></td>", out);
	}
	for (size_t i = 0; i < NR_SIDES; i++) {
		if (!rows[i])
			continue;
		nr_decimals = decimals_of(table, rows[i]);
		print_count(out, &rows[i]->cells[index], nr_decimals, "");
		if (sides[i].is_compared)
			print_over_base(out, &rows[i]->cells[index], nr_decimals);
	}
	if (!page->plain) {
		fputs("<td class=\"words\">", out);
		html_verdict(out, cell->verdict);
		fputs("</td>", out);
	}
	fputs("</tr>\n", out);
}

void html_price(const struct html_page *page, const struct table *table, const struct row *row)
{
	const struct row *rows[NR_SIDES];
	FILE *out = page->out;

	for (size_t i = 0; i < NR_SIDES; i++)
		rows[i] = html_side(table, row, sides[i].before, sides[i].after);
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", out);
	html_text(out, row->name);
	fputs("\"><table><caption>", out);
	html_text(out, row->name);
	fputs("</caption>\n", out);
	print_head(out, rows, page->plain);
	fputs("<tbody>\n", out);
	for (size_t i = 0; i < table->nr_columns; i++)
		print_line(page, table, row, rows, i);
	fputs("</tbody></table></div>\n", out);
}
