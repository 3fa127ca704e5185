/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two kinds of figures: changes of one metric, and lines over something that is counted. */
#ifndef UMEMCG_BENCH_REPORT_HTML_FIGURES_H
#define UMEMCG_BENCH_REPORT_HTML_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/html/page.h"

/* A value with its 95 % interval; NAN where there is none. */
struct html_point {
	double value;
	double low;
	double high;
};

struct html_series {
	const char *label; /* of its result, or NULL */
	const char *name;
	struct html_point *points; /* one for each place on the axis */
};

/* Lines over places that lie equally far apart, each called by a number. */
struct html_lines {
	const char *title;
	const char *caption; /* HTML */
	const int64_t *places;
	size_t nr_places;
	const struct html_series *series;
	size_t nr_series;
	bool is_percent; /* changes, against a line at zero; else values from zero on */
};

/** html_point_of_change - the change of a cell, + is slower or more */
struct html_point html_point_of_change(const struct cell *cell);

/** html_point_of_value - its mean times @scale, with Student's interval */
struct html_point html_point_of_value(const struct cell *cell, double scale);

/**
 * html_heading - a caption for a figure that stands apart from its workload
 * @table:  of it
 * @metric: that it shows, or NULL for all
 * @rest:   HTML behind the heading
 *
 * Return: HTML for free(); NULL without memory.
 */
char *html_heading(const struct table *table, const char *metric, const char *rest);

/** html_figure_changes - the configurations of one row side by side, if any is compared */
void html_figure_changes(const struct html_page *page, const struct table *table,
			 const struct row *row);

/** html_figure_lines - a figure, unless there is no point at all */
void html_figure_lines(const struct html_page *page, const struct html_lines *lines);

#endif
