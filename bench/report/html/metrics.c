/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that belong together: those of one metric, and those that tell more of the same count. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/figures.h"
#include "report/params.h"
#include "report/units.h"

bool html_is_price(const struct table *table)
{
	return strcmp(table->meter, "exact") == 0;
}

const struct row *html_side(const struct table *table, const struct row *row, const char *before,
			    const char *after)
{
	const char *operation = strchr(row->series->metric, '/');

	for (size_t i = 0; operation && i < table->nr_rows; i++) {
		const char *metric = table->rows[i].series->metric;
		size_t nr_before = strlen(before), nr_operation = strlen(operation);

		if (strncmp(metric, before, nr_before) == 0 &&
		    strncmp(metric + nr_before, operation, nr_operation) == 0 &&
		    strcmp(metric + nr_before + nr_operation, after) == 0 &&
		    params_compare(table->rows[i].series, row->series) == 0)
			return &table->rows[i];
	}
	return NULL;
}

size_t html_metric_end(const struct table *table, size_t first)
{
	size_t end = first + 1;

	while (end < table->nr_rows &&
	       strcmp(table->rows[end].series->metric, table->rows[first].series->metric) == 0)
		end++;
	return end;
}

static bool varies(const struct table *table, size_t first, size_t end, const char *name)
{
	for (size_t i = first + 1; i < end; i++) {
		if (params_differ(table->rows[first].series, table->rows[i].series, name))
			return true;
	}
	return false;
}

const char *html_varying(const struct table *table, size_t first, size_t end)
{
	const struct bench_series *series = table->rows[first].series;
	const char *found = NULL;

	for (size_t i = 0; i < series->nr_params; i++) {
		const char *name = series->params[i].name;

		if (!varies(table, first, end, name))
			continue;
		if (found)
			return NULL;
		found = name;
	}
	for (size_t i = first; found && i < end; i++) {
		const struct bench_param *param = params_find(table->rows[i].series, found);

		if (!param || param->text)
			return NULL;
	}
	return found;
}

/* The figure's series: a line for each column that has something to show. */
struct metric {
	struct html_series *series;
	size_t nr_series;
	struct html_point *points;
	int64_t *places;
};

static void add_column(const struct html_page *page, const struct table *table, size_t column,
		       size_t first, size_t end, double scale, bool is_percent,
		       struct metric *metric)
{
	struct html_point *points = metric->points + metric->nr_series * (end - first);
	bool has_point = false;

	for (size_t i = first; i < end; i++) {
		const struct cell *cell = &table->rows[i].cells[column];

		points[i - first] =
			is_percent ? html_point_of_change(cell) : html_point_of_value(cell, scale);
		has_point = has_point || isfinite(points[i - first].value);
	}
	if (!has_point)
		return;
	metric->series[metric->nr_series++] = (struct html_series){
		.label = page->comparison->nr_runs > 1
				 ? page->comparison->runs[table->columns[column].run].label
				 : NULL,
		.name = table->columns[column].config,
		.points = points,
	};
}

static double scale_of(const struct table *table, size_t first, size_t end, const char **ret_unit)
{
	double scale = units_scale(table, &table->rows[first], ret_unit);

	/* One unit for all rows: the largest of them, so that no value is a long number. */
	for (size_t i = first + 1; i < end; i++) {
		const char *unit;
		double other = units_scale(table, &table->rows[i], &unit);

		if (other < scale) {
			scale = other;
			*ret_unit = unit;
		}
	}
	return scale;
}

char *html_heading(const struct table *table, const char *metric, const char *rest)
{
	char *caption = NULL;
	size_t nr_bytes;
	FILE *out = open_memstream(&caption, &nr_bytes);

	if (!out)
		return NULL;
	fputs("<b>", out);
	html_text(out, table->workload);
	if (metric) {
		fputs(", ", out);
		html_text(out, metric);
	}
	fprintf(out, "</b> <span>%s, %s meter</span><br>%s", table->target, table->meter, rest);
	if (fclose(out)) {
		free(caption);
		return NULL;
	}
	return caption;
}

static void draw(const struct html_page *page, const struct table *table, size_t first, size_t end,
		 bool is_percent, const char *unit, const struct metric *metric)
{
	const struct bench_series *series = table->rows[first].series;
	const char *param = html_varying(table, first, end);
	char *title = NULL, *caption = NULL, *rest = NULL;
	size_t nr_bytes;
	FILE *out = open_memstream(&rest, &nr_bytes);

	if (!out)
		return;
	fputs(is_percent ? "Change" : "Mean", out);
	if (!is_percent) {
		fputs(", ", out);
		html_text(out, unit);
	}
	fputs(", over ", out);
	html_text(out, param);
	fputs(", with 95\xc2\xa0% intervals.", out);
	if (fclose(out) == 0) {
		caption = is_percent ? strdup(rest) : html_heading(table, series->metric, rest);
		if (asprintf(&title, "%s of %s over %s, a line for each configuration",
			     series->metric, table->workload, param) < 0)
			title = NULL;
	}
	if (caption && title)
		html_figure_lines(page, &(struct html_lines){
						.title = title,
						.caption = caption,
						.places = metric->places,
						.nr_places = end - first,
						.series = metric->series,
						.nr_series = metric->nr_series,
						.is_percent = is_percent,
					});
	free(title);
	free(caption);
	free(rest);
}

void html_metric_lines(const struct html_page *page, const struct table *table, size_t first,
		       size_t end, bool is_percent)
{
	const char *param = html_varying(table, first, end), *unit;
	double scale = scale_of(table, first, end, &unit);
	size_t nr_places = end - first;
	struct metric metric = {
		.series = calloc(table->nr_columns, sizeof(*metric.series)),
		.points = calloc(table->nr_columns * nr_places, sizeof(*metric.points)),
		.places = calloc(nr_places, sizeof(*metric.places)),
	};

	if (metric.series && metric.points && metric.places) {
		for (size_t i = first; i < end; i++)
			metric.places[i - first] =
				params_find(table->rows[i].series, param)->integer;
		for (size_t i = 0; i < table->nr_columns; i++) {
			if (!table->columns[i].is_control)
				add_column(page, table, i, first, end, scale, is_percent, &metric);
		}
		draw(page, table, first, end, is_percent, unit, &metric);
	}
	free(metric.series);
	free(metric.points);
	free(metric.places);
}
