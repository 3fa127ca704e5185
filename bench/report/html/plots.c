/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/html/plots.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "report/html/gnuplot.h"
#include "report/html/text.h"

/* Marks in the page. No text has them: html_text() drops control characters. */
#define MARK_FIGURE  '\1'
#define MARK_DRAWING '\2' /* on both sides of the figure's number */
#define MARK_END     '\3'
#define MARK_EXPLAIN '\4'
#define MARK_DRAWN   '\5'
#define MARK_UNDRAWN '\6'

struct figure {
	char *title;
	unsigned int height;
	const char *body; /* in the drawings, of @end - @body bytes */
	const char *end;
};

struct html_plots {
	struct figure *figures;
	size_t nr_figures;
	FILE *script;
	char *commands; /* what was written to script; valid when that is closed */
	size_t nr_bytes;
	char *drawings;
	bool is_drawn;
	char why[GNUPLOT_WHY_BYTES];
};

int html_plots_create(struct html_plots **ret_plots)
{
	struct html_plots *plots = calloc(1, sizeof(*plots));

	if (!plots)
		return -ENOMEM;
	plots->script = open_memstream(&plots->commands, &plots->nr_bytes);
	if (!plots->script) {
		free(plots);
		return -ENOMEM;
	}
	*ret_plots = plots;
	return 0;
}

void html_plots_destroy(struct html_plots *plots)
{
	if (!plots)
		return;
	if (plots->script)
		fclose(plots->script);
	for (size_t i = 0; i < plots->nr_figures; i++)
		free(plots->figures[i].title);
	free(plots->figures);
	free(plots->commands);
	free(plots->drawings);
	free(plots);
}

FILE *html_plots_open(struct html_plots *plots, FILE *out, unsigned int height, const char *title)
{
	struct figure *figures =
		array_grown(plots->figures, plots->nr_figures, sizeof(*plots->figures));
	char *copy = strdup(title);

	/* Without memory the stream of commands fails as well, and that is looked at. */
	if (figures && copy) {
		plots->figures = figures;
		figures[plots->nr_figures] = (struct figure){ .title = copy, .height = height };
	} else {
		free(copy);
		plots->figures = figures ? figures : plots->figures;
		return NULL;
	}
	fprintf(out, "%c<figure class=\"plot\">%c%zu%c<figcaption>", MARK_FIGURE, MARK_DRAWING,
		plots->nr_figures++, MARK_DRAWING);
	fprintf(plots->script,
		"reset\n"
		"set encoding utf8\n"
		"set terminal svg size %d,%u dynamic noenhanced font 'sans-serif,12' linewidth 1\n"
		"set border 0\n"
		"unset key\n"
		"set tics scale 0 textcolor rgb %u\n"
		"set grid linecolor rgb %u linewidth 1 dashtype solid\n",
		HTML_PLOT_WIDTH, height, html_plots_colour(HTML_TEXT),
		html_plots_colour(HTML_RULE));
	return plots->script;
}

void html_plots_close(FILE *out)
{
	fprintf(out, "</figcaption></figure>%c\n", MARK_END);
}

void html_plots_begin_drawn(FILE *out)
{
	fputc(MARK_DRAWN, out);
}

void html_plots_end_drawn(FILE *out)
{
	fputc(MARK_UNDRAWN, out);
}

void html_plots_explain(FILE *out)
{
	fputc(MARK_EXPLAIN, out);
}

static void draw(struct html_plots *plots)
{
	const char *text;
	size_t i;

	if (gnuplot_run(plots->commands, &plots->drawings, plots->why))
		return;
	text = plots->drawings;
	for (i = 0; i < plots->nr_figures; i++) {
		struct figure *figure = &plots->figures[i];

		if (gnuplot_next_drawing(text, &figure->body, &figure->end))
			break;
		text = figure->end;
	}
	plots->is_drawn = i == plots->nr_figures;
	if (!plots->is_drawn)
		snprintf(plots->why, sizeof(plots->why), "gnuplot drew %zu of %zu", i,
			 plots->nr_figures);
}

static void put_drawing(const struct html_plots *plots, size_t index, FILE *out)
{
	const struct figure *figure = &plots->figures[index];

	fprintf(out,
		"<svg viewBox=\"0 0 %d %u\" role=\"img\" aria-labelledby=\"plot-%zu\">"
		"<title id=\"plot-%zu\">",
		HTML_PLOT_WIDTH, figure->height, index, index);
	html_text(out, figure->title);
	fputs("</title>", out);
	gnuplot_copy(figure->body, figure->end, out);
	fputs("</svg>", out);
}

/* Returns the last byte that it has dealt with. */
static const char *put(const struct html_plots *plots, const char *page, FILE *out)
{
	char *end;

	switch (*page) {
	case MARK_FIGURE:
		return plots->is_drawn ? page : strchr(page, MARK_END);
	case MARK_DRAWN:
		return plots->is_drawn ? page : strchr(page, MARK_UNDRAWN);
	case MARK_DRAWING:
		put_drawing(plots, strtoul(page + 1, &end, 10), out);
		return end;
	case MARK_EXPLAIN:
		if (plots->nr_figures && !plots->is_drawn) {
			fputs("<p class=\"flag\">No plots: ", out);
			html_text(out, plots->why);
			fputs(". The tables hold the same numbers.</p>\n", out);
		}
		return page;
	case MARK_END:
	case MARK_UNDRAWN:
		return page;
	default:
		fputc(*page, out);
		return page;
	}
}

int html_plots_finish(struct html_plots *plots, const char *page, FILE *out)
{
	int failed = fclose(plots->script);

	plots->script = NULL;
	if (failed)
		return -ENOMEM;
	if (plots->nr_figures)
		draw(plots);
	for (; *page; page++)
		page = put(plots, page, out);
	return 0;
}

/* By gnuplot's numbers, which gnuplot_copy() leaves in the references. */
static const struct {
	unsigned int number;
	bool filled;
	const char *path;
} shapes[] = {
	{ 6, true, "M-1,0a1,1 0 1,0 2,0a1,1 0 1,0 -2,0z" },
	{ 4, true, "M-.9-.9H.9V.9H-.9z" },
	{ 8, true, "M0-1.3 1.15.75H-1.15z" },
	{ 12, true, "M0-1.3 1.3 0 0 1.3-1.3 0z" },
	{ 5, false, "M-1,0a1,1 0 1,0 2,0a1,1 0 1,0 -2,0z" },
	{ 3, false, "M-.9-.9H.9V.9H-.9z" },
	{ 7, false, "M0-1.3 1.15.75H-1.15z" },
	{ 11, false, "M0-1.3 1.3 0 0 1.3-1.3 0z" },
};

#define NR_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

void html_plots_shapes(FILE *out)
{
	fputs("<svg class=\"shapes\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>", out);
	for (size_t i = 0; i < NR_SHAPES; i++)
		fprintf(out, "<path id=\"point-%u\" class=\"%s\" d=\"%s\"/>", shapes[i].number,
			shapes[i].filled ? "filled" : "hollow", shapes[i].path);
	fputs("</defs></svg>\n", out);
}

unsigned int html_plots_colour(unsigned int colour)
{
	/* A dark red that nobody would choose, with the number in it: see gnuplot_copy(). */
	return 0x010000 + colour;
}

unsigned int html_plots_point(size_t series)
{
	/* gnuplot counts from 1, its references from 0. */
	return shapes[series % NR_SHAPES].number + 1;
}

void html_plots_label(FILE *script, const char *name, size_t nr_columns_max)
{
	/* Neither quotes, nor what gnuplot expands within them, nor markup. */
	static const char plain[] = " !()*+,-./:;=?[]_{}~";
	size_t nr_columns = 0;

	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;
		bool continues = (c & 0xc0) == 0x80;

		if (!continues && ++nr_columns > nr_columns_max) {
			fputs("\xe2\x80\xa6", script);
			return;
		}
		if (c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
		    strchr(plain, c))
			fputc(c, script);
		else
			fputc('_', script);
	}
}

/* A step of 1, 2 or 5 times a power of ten that cuts the range in at most @nr_most parts. */
static double step_of(double range, int nr_most)
{
	double power = pow(10, floor(log10(range / nr_most)));
	double part = range / nr_most / power;

	return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static void print_tick(FILE *script, double value, double step, int is_percent)
{
	static const char *const thousands[] = { "", " k", " M", " G", " T" };
	size_t unit = 0;

	if (fabs(value) < step / 2)
		value = 0;
	/* The step decides, so that ticks are alike: 0, 500 k, 1000 k. */
	for (; fabs(step) >= 1000 && unit + 1 < sizeof(thousands) / sizeof(thousands[0]); unit++) {
		step /= 1000;
		value /= 1000;
	}
	fprintf(script,
		is_percent && value > 0 ? "'+%.6g"
		: value < 0             ? "'\xe2\x88\x92%.6g"
					: "'%.6g",
		fabs(value));
	fprintf(script, "%s%s'", value != 0 ? thousands[unit] : "", is_percent ? " %%" : "");
}

void html_plots_axis(FILE *script, char axis, double low, double high, int is_percent)
{
	double step = step_of(high - low, axis == 'x' ? 5 : 6), pad = (high - low) * 0.04;
	const char *separator = "";

	low = low == 0 && !is_percent ? 0 : low - pad;
	high += pad;
	fprintf(script, "set %crange [%.9g:%.9g]\nset %ctics (", axis, low, high, axis);
	for (double tick = ceil(low / step) * step; tick <= high; tick += step) {
		fputs(separator, script);
		print_tick(script, tick, step, is_percent);
		fprintf(script, " %.9g", fabs(tick) < step / 2 ? 0 : tick);
		separator = ", ";
	}
	fputs(")\n", script);
}
