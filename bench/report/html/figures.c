/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/html/figures.h"

#include <gsl/gsl_cdf.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/direction.h"
#include "report/text.h"

/* Columns that a name may take beside a plot, and the pixels of one. */
#define LABEL_COLUMNS 22
#define COLUMN_PIXELS 7.0
#define LINE_PIXELS   24
#define LINES_HEIGHT  250

struct html_point html_point_of_change(const struct cell *cell)
{
	struct html_point point = { NAN, NAN, NAN };

	if (!cell->series || !cell->base || !cell->bootstrap.has_change)
		return point;
	point.value = html_change(cell);
	point.low = point.high = point.value;
	if (cell->bootstrap.has_interval)
		direction_interval(&cell->bootstrap, cell->series->better, PLUS_IS_SLOWER,
				   &point.low, &point.high);
	/* A rate that may be zero: no time for one operation. */
	if (!isfinite(point.value) || !isfinite(point.low) || !isfinite(point.high))
		point = (struct html_point){ NAN, NAN, NAN };
	return point;
}

struct html_point html_point_of_value(const struct cell *cell, double scale)
{
	struct html_point point = { NAN, NAN, NAN };
	double reach = cell->statistics.standard_error_percent / 100;

	if (!cell->series || !isfinite(cell->statistics.mean))
		return point;
	point.value = cell->statistics.mean * scale;
	if (!isfinite(reach))
		reach = 0;
	if (cell->statistics.nr_samples > 1)
		reach *= gsl_cdf_tdist_Pinv(0.975, (double)cell->statistics.nr_samples - 1);
	point.low = fmax(point.value * (1 - reach), 0);
	point.high = point.value * (1 + reach);
	return point;
}

static bool is_shown(const struct cell *cell)
{
	return isfinite(html_point_of_change(cell).value);
}

static void print_label(const struct html_page *page, const struct column *column, FILE *script)
{
	const char *label = page->comparison->runs[column->run].label;

	if (page->comparison->nr_runs > 1) {
		html_plots_label(script, label, LABEL_COLUMNS / 2);
		fputs(": ", script);
	}
	html_plots_label(script, column->config,
			 page->comparison->nr_runs > 1 ? LABEL_COLUMNS / 2 : LABEL_COLUMNS);
}

static size_t label_columns(const struct html_page *page, const struct column *column)
{
	size_t nr_columns = text_columns(column->config);

	if (page->comparison->nr_runs > 1)
		nr_columns += 2 + text_columns(page->comparison->runs[column->run].label);
	return nr_columns < LABEL_COLUMNS ? nr_columns : LABEL_COLUMNS;
}

/* Names on the left, and in the data a line for each: place, change, interval, colour. */
static void print_changes(const struct html_page *page, const struct table *table,
			  const struct row *row, FILE *script)
{
	static const unsigned int colours[] = {
		[VERDICT_NONE] = HTML_EQUAL,      [VERDICT_EQUAL] = HTML_EQUAL,
		[VERDICT_COSTS] = HTML_COSTS,     [VERDICT_SAVES] = HTML_SAVES,
		[VERDICT_UNCLEAR] = HTML_UNCLEAR,
	};
	const char *separator = "";
	size_t place = 1;

	fputs("set ytics (", script);
	for (size_t i = 0; i < table->nr_columns; i++) {
		if (!is_shown(&row->cells[i]))
			continue;
		fprintf(script, "%s\"", separator);
		print_label(page, &table->columns[i], script);
		fprintf(script, "\" %zu", place++);
		separator = ", ";
	}
	fprintf(script, ")\nset yrange [%zu.5:0.5]\n$d << EOD\n", place - 1);
	place = 1;
	for (size_t i = 0; i < table->nr_columns; i++) {
		struct html_point point = html_point_of_change(&row->cells[i]);

		if (isfinite(point.value))
			fprintf(script, "%zu %.9g %.9g %.9g %u\n", place++, point.value, point.low,
				point.high,
				html_plots_colour(table->columns[i].is_control
							  ? HTML_EQUAL
							  : colours[row->cells[i].verdict]));
	}
	fputs("EOD\n", script);
}

static void print_band(FILE *script, char axis, double effect_percent)
{
	if (effect_percent <= 0)
		return;
	if (axis == 'x')
		fprintf(script,
			"set object 1 rectangle from first %g, graph 0 to first %g, graph 1",
			-effect_percent, effect_percent);
	else
		fprintf(script,
			"set object 1 rectangle from graph 0, first %g to graph 1, first %g",
			-effect_percent, effect_percent);
	fprintf(script, " behind fillcolor rgb %u fillstyle solid noborder\n",
		html_plots_colour(HTML_BAND));
}

static const char *name_of_base(const struct table *table, const struct row *row)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		if (row->cells[i].base && !table->columns[i].is_control)
			return row->cells[i].base->series->config;
	}
	return table->columns[0].config;
}

static FILE *open_changes(const struct html_page *page, const struct table *table,
			  const struct row *row, size_t nr_shown)
{
	FILE *script;
	char *title;

	if (asprintf(&title, "Change of %s of %s against %s in percent, by configuration",
		     row->name, table->workload, name_of_base(table, row)) < 0)
		return NULL;
	script = html_plots_open(page->plots, page->out, (unsigned int)nr_shown * LINE_PIXELS + 42,
				 title);
	free(title);
	if (script) {
		fputs("Change against ", page->out);
		html_text(page->out, name_of_base(table, row));
		fprintf(page->out, ", with 95\xc2\xa0%% intervals.");
		html_plots_close(page->out);
	}
	return script;
}

void html_figure_changes(const struct html_page *page, const struct table *table,
			 const struct row *row)
{
	double effect = page->comparison->options.effect_percent;
	double low = -effect * 1.5, high = effect * 1.5;
	size_t nr_shown = 0, nr_label_columns = 0;
	FILE *script;

	for (size_t i = 0; i < table->nr_columns; i++) {
		struct html_point point = html_point_of_change(&row->cells[i]);
		size_t nr_columns = label_columns(page, &table->columns[i]);

		if (!isfinite(point.value))
			continue;
		nr_shown++;
		low = fmin(low, point.low);
		high = fmax(high, point.high);
		nr_label_columns = nr_columns > nr_label_columns ? nr_columns : nr_label_columns;
	}
	script = nr_shown ? open_changes(page, table, row, nr_shown) : NULL;
	if (!script)
		return;
	if (!(low < high)) {
		low = -1;
		high = 1;
	}
	fprintf(script, "set lmargin at screen %.4f\nset rmargin at screen 0.96\n",
		((double)nr_label_columns * COLUMN_PIXELS + 14) / HTML_PLOT_WIDTH);
	fputs("set tmargin 0.4\nset bmargin 2\n", script);
	html_plots_axis(script, 'x', low, high, 1);
	print_changes(page, table, row, script);
	print_band(script, 'x', effect);
	fprintf(script,
		"set grid xtics noytics back\n"
		"set arrow 1 from first 0, graph 0 to first 0, graph 1 nohead linecolor rgb %u\n"
		"plot $d using 2:1:3:4:5 with xerrorbars linecolor rgb variable linewidth 2 "
		"pointtype 7 pointsize 0.6\n",
		html_plots_colour(HTML_TEXT));
}

static void print_legend(const struct html_page *page, const struct html_lines *lines)
{
	FILE *out = page->out;

	fputs("<ul class=\"legend\">", out);
	for (size_t i = 0; i < lines->nr_series && i < HTML_NR_SERIES; i++) {
		fprintf(out,
			"<li><svg viewBox=\"-2 -2 4 4\" aria-hidden=\"true\"><use href=\"#point-%u\" "
			"color=\"var(--plot-%zu)\"/></svg>",
			html_plots_point(i) - 1, HTML_SERIES + i);
		if (lines->series[i].label) {
			html_text(out, lines->series[i].label);
			fputs(": ", out);
		}
		html_text(out, lines->series[i].name);
		fputs("</li>", out);
	}
	if (lines->nr_series > HTML_NR_SERIES)
		fprintf(out, "<li>%zu more in the table</li>", lines->nr_series - HTML_NR_SERIES);
	fputs("</ul>", out);
}

static void print_lines(const struct html_lines *lines, size_t nr_series, FILE *script)
{
	const char *separator = "";

	fputs("set xtics (", script);
	for (size_t i = 0; i < lines->nr_places; i++)
		fprintf(script, "%s'%" PRId64 "' %zu", i ? ", " : "", lines->places[i], i);
	fprintf(script, ")\nset xrange [-0.3:%g]\n", (double)lines->nr_places - 0.7);
	for (size_t i = 0; i < nr_series; i++) {
		/* Side by side, so that intervals do not hide each other. */
		double shift = 0.05 * ((double)i - (double)(nr_series - 1) / 2);

		fprintf(script, "$d%zu << EOD\n", i);
		for (size_t j = 0; j < lines->nr_places; j++) {
			const struct html_point *point = &lines->series[i].points[j];

			if (isfinite(point->value))
				fprintf(script, "%g %.9g %.9g %.9g\n", (double)j + shift,
					point->value, point->low, point->high);
		}
		fputs("EOD\n", script);
	}
	fputs("plot ", script);
	for (size_t i = 0; i < nr_series; i++) {
		fprintf(script,
			"%s$d%zu using 1:2:3:4 with yerrorlines linecolor rgb %u linewidth 1.5 "
			"pointtype %u pointsize 0.7",
			separator, i, html_plots_colour(HTML_SERIES + (unsigned int)i),
			html_plots_point(i));
		separator = ", ";
	}
	fputc('\n', script);
}

static bool has_point(const struct html_series *series, size_t nr_places)
{
	for (size_t i = 0; i < nr_places; i++) {
		if (isfinite(series->points[i].value))
			return true;
	}
	return false;
}

void html_figure_lines(const struct html_page *page, const struct html_lines *lines)
{
	double effect = page->comparison->options.effect_percent;
	double low = lines->is_percent ? -effect * 1.5 : 0,
	       high = lines->is_percent ? effect * 1.5 : 0;
	size_t nr_series = lines->nr_series < HTML_NR_SERIES ? lines->nr_series : HTML_NR_SERIES;
	FILE *script;

	for (size_t i = 0; i < nr_series; i++) {
		/* gnuplot takes no series without points. */
		if (!has_point(&lines->series[i], lines->nr_places))
			return;
		for (size_t j = 0; j < lines->nr_places; j++) {
			low = fmin(low, lines->series[i].points[j].low);
			high = fmax(high, lines->series[i].points[j].high);
		}
	}
	if (!nr_series || !lines->nr_places)
		return;
	script = html_plots_open(page->plots, page->out, LINES_HEIGHT, lines->title);
	if (!script)
		return;
	fputs(lines->caption, page->out);
	print_legend(page, lines);
	html_plots_close(page->out);
	if (!(low < high))
		high = low + 1;
	fputs("set tmargin 0.6\nset bmargin 1.6\nset rmargin 1\n", script);
	html_plots_axis(script, 'y', low, high, lines->is_percent);
	fputs("set grid ytics noxtics back\n", script);
	if (lines->is_percent)
		print_band(script, 'y', effect);
	fprintf(script,
		"set arrow 1 from graph 0, first 0 to graph 1, first 0 nohead linecolor rgb %u\n",
		html_plots_colour(HTML_TEXT));
	print_lines(lines, nr_series, script);
}
