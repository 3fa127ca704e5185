/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The figures of a page. While the page is printed, each leaves a mark in it
 * and its commands here; then gnuplot draws all of them at once, and the page
 * is copied with the drawings in their places. Without gnuplot the figures are
 * left out and one line says why: the tables hold every number.
 */
#ifndef UMEMCG_BENCH_REPORT_HTML_PLOTS_H
#define UMEMCG_BENCH_REPORT_HTML_PLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct html_plots;

/* Colours of the style sheet, by their number in it. */
enum html_colour {
	HTML_TEXT,
	HTML_RULE,
	HTML_BAND,
	HTML_COSTS,
	HTML_SAVES,
	HTML_EQUAL,
	HTML_UNCLEAR,
	HTML_SERIES, /* the first of HTML_NR_SERIES */
};

/* Series that one plot tells apart, by colour and by the shape of their points. */
#define HTML_NR_SERIES 8

/* Width of every drawing, so that a narrow screen need not shrink it much. */
#define HTML_PLOT_WIDTH 440

/** html_plots_create - none yet; 0 or -ENOMEM */
int html_plots_create(struct html_plots **ret_plots);

/** html_plots_destroy - may be NULL */
void html_plots_destroy(struct html_plots *plots);

/**
 * html_plots_open - start a figure
 * @plots:  live
 * @out:    the page; gets the figure's start
 * @height: of the drawing, whose width is HTML_PLOT_WIDTH
 * @title:  what it shows, for those who cannot see it
 *
 * Return: where gnuplot's commands go. What is written to @out until
 * html_plots_close() is the figure's caption.
 */
FILE *html_plots_open(struct html_plots *plots, FILE *out, unsigned int height, const char *title);

/** html_plots_close - end of the figure's caption */
void html_plots_close(FILE *out);

/** html_plots_begin_drawn - what is written to @out from here on is kept only with drawings */
void html_plots_begin_drawn(FILE *out);

/** html_plots_end_drawn - end of that; it may hold figures, and cannot be nested */
void html_plots_end_drawn(FILE *out);

/** html_plots_explain - leave a mark in @out, where it is said if there are no drawings */
void html_plots_explain(FILE *out);

/**
 * html_plots_finish - draw, and copy the page with the drawings
 * @plots: live
 * @page:  its text, with marks
 * @out:   where to
 *
 * Return: 0, also if nothing could be drawn; -ENOMEM.
 */
int html_plots_finish(struct html_plots *plots, const char *page, FILE *out);

/** html_plots_shapes - the points that drawings and legends refer to, once in a page */
void html_plots_shapes(FILE *out);

/** html_plots_colour - that colour as gnuplot knows it */
unsigned int html_plots_colour(unsigned int colour);

/** html_plots_point - gnuplot's number for the point of a series */
unsigned int html_plots_point(size_t series);

/** html_plots_label - a name from outside as part of a quoted string of gnuplot */
void html_plots_label(FILE *script, const char *name, size_t nr_columns_max);

/**
 * html_plots_axis - range and ticks
 * @script:     of a figure
 * @axis:       'x' or 'y'
 * @low:        that must be seen, less than @high
 * @high:       that must be seen
 * @is_percent: ticks are changes in percent, with a sign
 */
void html_plots_axis(FILE *script, char axis, double low, double high, int is_percent);

#endif
