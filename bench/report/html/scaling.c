/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How cost grows: with the depth of the group, of which there is a
 * configuration each or which is a workload's own parameter, and with the
 * number of groups.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/figures.h"

/* The depth that a configuration puts its task at; 0 if its name tells none. */
static int64_t depth_of(const char *config)
{
	static const char prefix[] = "depth-";
	const char *digits = config + strlen(prefix);
	int64_t depth = 0;

	if (strncmp(config, prefix, strlen(prefix)) || !*digits || strlen(digits) > 6)
		return 0;
	for (; *digits >= '0' && *digits <= '9'; digits++)
		depth = depth * 10 + (*digits - '0');
	return *digits ? 0 : depth;
}

/* Columns of one result in the order of their depths; one that has one is not repeated. */
static size_t find_depths(const struct table *table, size_t run, size_t *columns)
{
	size_t nr_depths = 0;

	for (size_t i = 0; i < table->nr_columns; i++) {
		int64_t depth = depth_of(table->columns[i].config);
		size_t at = nr_depths;

		if (!depth || table->columns[i].run != run)
			continue;
		for (; at > 0 && depth_of(table->columns[columns[at - 1]].config) > depth; at--)
			columns[at] = columns[at - 1];
		columns[at] = i;
		nr_depths++;
	}
	return nr_depths;
}

static void draw_depths(const struct html_page *page, const struct table *table, size_t run,
			const size_t *columns, size_t nr_depths)
{
	struct html_series *series = calloc(table->nr_rows, sizeof(*series));
	struct html_point *points = calloc(table->nr_rows * nr_depths, sizeof(*points));
	int64_t *depths = calloc(nr_depths, sizeof(*depths));
	size_t nr_series = 0;
	char *title = NULL, *caption = NULL;

	for (size_t i = 0; series && points && depths && i < table->nr_rows; i++) {
		const struct row *row = &table->rows[i];
		struct html_point *own = points + nr_series * nr_depths;
		bool any = false;

		for (size_t j = 0; j < nr_depths; j++) {
			depths[j] = depth_of(table->columns[columns[j]].config);
			own[j] = html_point_of_change(&row->cells[columns[j]]);
			any = any || isfinite(own[j].value);
		}
		if (!any || html_is_side(table, row))
			continue;
		series[nr_series++] = (struct html_series){
			.label = page->comparison->nr_runs > 1 ? page->comparison->runs[run].label
							       : NULL,
			.name = row->name,
			.points = own,
		};
	}
	if (nr_series &&
	    asprintf(&title, "Change of %s against the base over depth", table->workload) >= 0) {
		caption = html_heading(table, NULL,
				       "Change against the base, over the depth of the "
				       "group, with 95\xc2\xa0% intervals.");
		if (caption)
			html_figure_lines(page, &(struct html_lines){
							.title = title,
							.caption = caption,
							.places = depths,
							.nr_places = nr_depths,
							.series = series,
							.nr_series = nr_series,
							.is_percent = true,
						});
		free(caption);
		free(title);
	}
	free(series);
	free(points);
	free(depths);
}

static void print_depths(const struct html_page *page, const struct table *table)
{
	size_t *columns = calloc(table->nr_columns + 1, sizeof(*columns));

	for (size_t run = 0; columns && run < page->comparison->nr_runs; run++) {
		size_t nr_depths = find_depths(table, run, columns);

		if (nr_depths < 2)
			continue;
		draw_depths(page, table, run, columns, nr_depths);
	}
	free(columns);
}

static bool has_depths(const struct table *table)
{
	size_t nr_depths = 0;

	for (size_t i = 0; i < table->nr_columns; i++)
		nr_depths += depth_of(table->columns[i].config) > 0;
	return nr_depths > 1;
}

/* Calls for each metric whose rows differ in the parameter of that name. */
static bool for_each_metric(const struct html_page *page, const struct comparison *comparison,
			    const char *param)
{
	bool any = false;

	for (size_t i = 0; i < comparison->nr_tables; i++) {
		const struct table *table = &comparison->tables[i];
		size_t end;

		for (size_t first = 0; first < table->nr_rows; first = end) {
			const char *varying;

			end = html_metric_end(table, first);
			varying = html_varying(table, first, end);
			if (!varying || strcmp(varying, param) ||
			    html_is_side(table, &table->rows[first]))
				continue;
			any = true;
			if (page)
				html_metric_lines(page, table, first, end, false);
		}
	}
	return any;
}

bool html_has_scaling(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->nr_tables; i++) {
		if (has_depths(&comparison->tables[i]))
			return true;
	}
	return for_each_metric(NULL, comparison, "depth") ||
	       for_each_metric(NULL, comparison, "groups");
}

void html_scaling(const struct html_page *page)
{
	const struct comparison *comparison = page->comparison;
	bool any_depth = for_each_metric(NULL, comparison, "depth");

	html_plots_begin_drawn(page->out);
	fputs("<section id=\"scaling\"><h2>How cost grows</h2>\n", page->out);
	for (size_t i = 0; i < comparison->nr_tables; i++)
		any_depth = any_depth || has_depths(&comparison->tables[i]);
	if (any_depth) {
		fputs("<h3>With the depth of the group</h3>\n<div class=\"grid\">\n", page->out);
		for (size_t i = 0; i < comparison->nr_tables; i++) {
			if (has_depths(&comparison->tables[i]))
				print_depths(page, &comparison->tables[i]);
		}
		for_each_metric(page, comparison, "depth");
		fputs("</div>\n", page->out);
	}
	if (for_each_metric(NULL, comparison, "groups")) {
		fputs("<h3>With the number of groups</h3>\n<div class=\"grid\">\n", page->out);
		for_each_metric(page, comparison, "groups");
		fputs("</div>\n", page->out);
	}
	fputs("</section>\n", page->out);
	html_plots_end_drawn(page->out);
}
