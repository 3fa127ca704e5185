/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of the HTML report. Each prints one section into the page, in the
 * order in which they stand here. The page needs no script and nothing from
 * elsewhere; every text from a result goes through html_text().
 */
#ifndef UMEMCG_BENCH_REPORT_HTML_PAGE_H
#define UMEMCG_BENCH_REPORT_HTML_PAGE_H

#include <stdio.h>

#include "report/html/plots.h"
#include "report/html/text.h"
#include "report/renderer.h"

struct html_page {
	const struct comparison *comparison;
	bool plain; /* tables without verdicts, intervals and plots */
	FILE *out;
	struct html_plots *plots;
};

/* The style sheet, made from style.css by the build. */
extern const char html_style[];

/** html_verdicts - how many of each verdict, and a table of all of them */
void html_verdicts(const struct html_page *page);

/** html_workloads - for each workload plots of its metrics and a table */
void html_workloads(const struct html_page *page);

/** html_has_scaling - does any table tell of depths or numbers of groups? */
bool html_has_scaling(const struct comparison *comparison);

/** html_scaling - cost against depth, and against the number of groups */
void html_scaling(const struct html_page *page);

/** html_has_profiles - does any result have one? */
bool html_has_profiles(const struct comparison *comparison);

/**
 * html_profiles - a bar for each symbol, and what a configuration changes
 * @page:  the page
 * @error: on -EINVAL one line
 *
 * Return: 0; -EINVAL for a profile that contradicts itself; -ENOMEM.
 */
int html_profiles(const struct html_page *page, struct report_error *error);

/** html_skipped - what was not measured, and why */
void html_skipped(const struct html_page *page);

/** html_environment - the machine of each result */
void html_environment(const struct html_page *page);

/** html_repeat - the commands that measure and print the same again */
void html_repeat(const struct html_page *page);

/** html_reading - what the figures, the verdicts and the marks in plots mean */
void html_reading(const struct html_page *page);

/* What several sections need. */

/** html_column_name - "child", or "laptop: child" among several results */
void html_column_name(const struct html_page *page, const struct column *column);

/** html_verdict - a verdict as a label; nothing for none */
void html_verdict(FILE *out, enum verdict verdict);

/** html_change - the change of a cell, + is slower or more; NAN without */
double html_change(const struct cell *cell);

/** html_is_price - is this a table of counts, which has columns of its own? */
bool html_is_price(const struct table *table);

/** html_is_side - is this row shown beside another one, as the mode of the same count is? */
bool html_is_side(const struct table *table, const struct row *row);

/** html_side - the row shown beside @row whose metric has @before, its operation, and @after */
const struct row *html_side(const struct table *table, const struct row *row, const char *before,
			    const char *after);

/** html_metric_end - behind the last row of the metric of row @first */
size_t html_metric_end(const struct table *table, size_t first);

/** html_varying - the number in which rows @first to @end - 1 differ; NULL if not in one alone */
const char *html_varying(const struct table *table, size_t first, size_t end);

/**
 * html_metric_lines - a figure of a metric over the number in which its rows differ
 * @page:       the page
 * @table:      of it
 * @first:      row
 * @end:        behind the last row
 * @is_percent: changes of what is compared; else the values of every configuration
 */
void html_metric_lines(const struct html_page *page, const struct table *table, size_t first,
		       size_t end, bool is_percent);

/** html_price - the table of one operation's price in every configuration */
void html_price(const struct html_page *page, const struct table *table, const struct row *row);

#endif
