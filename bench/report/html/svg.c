/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gnuplot's SVG has the identifiers and colours of a file of its own; a page holds many of it. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/gnuplot.h"
#include "report/html/plots.h"

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

int gnuplot_next_drawing(const char *text, const char **ret_body, const char **ret_end)
{
	static const char definitions_end[] = "</defs>";
	const char *start = strstr(text, "<svg"), *end, *body;

	end = start ? strstr(start, "</svg>") : NULL;
	body = end ? strstr(start, definitions_end) : NULL;
	if (!body || body > end)
		return -ENOENT;
	*ret_body = body + strlen(definitions_end);
	*ret_end = end;
	return 0;
}

/* "rgb(  1,   0,   3)" is what became of colour 3: see html_plots_colour(). */
static const char *copy_colour(const char *text, FILE *out)
{
	int red, green, blue, nr_bytes = 0;

	if (sscanf(text, "rgb( %d , %d , %d )%n", &red, &green, &blue, &nr_bytes) < 3 || !nr_bytes)
		return NULL;
	if (red != 1 || green != 0)
		return NULL;
	fprintf(out, "var(--plot-%d)", blue);
	return text + nr_bytes;
}

/* Behind an attribute's value. */
static const char *skip_attribute(const char *text)
{
	char quote;

	text += strcspn(text, "'\"");
	quote = *text;
	return quote ? text + 1 + strcspn(text + 1, (char[]){ quote, '\0' }) + 1 : text;
}

static void copy_tag(const char *tag, const char *end, FILE *out)
{
	static const char reference[] = "xlink:href='#gpPt";

	while (tag < end) {
		const char *next = NULL;

		if (starts_with(tag, " id=")) {
			next = skip_attribute(tag);
		} else if (starts_with(tag, reference)) {
			fputs("href='#point-", out);
			next = tag + strlen(reference);
		} else if (starts_with(tag, "rgb(")) {
			next = copy_colour(tag, out);
		}
		if (next)
			tag = next;
		else
			fputc(*tag++, out);
	}
}

/* Behind a group without content that starts at @tag, or NULL. */
static const char *skip_empty_group(const char *tag, const char *tag_end)
{
	if (!starts_with(tag, "<g"))
		return NULL;
	tag_end += strspn(tag_end, " \t\n");
	return starts_with(tag_end, "</g>") ? tag_end + strlen("</g>") : NULL;
}

void gnuplot_copy(const char *body, const char *end, FILE *out)
{
	int depth = 0;

	while (body < end) {
		const char *tag_end, *next = NULL;

		if (*body == '\n' || *body == '\t') {
			/* Elements are apart without it, and text has none. */
			body++;
			continue;
		}
		if (*body != '<') {
			fputc(*body++, out);
			continue;
		}
		tag_end = memchr(body, '>', (size_t)(end - body));
		tag_end = tag_end ? tag_end + 1 : end;
		if (starts_with(body, "<title>")) {
			next = strstr(body, "</title>");
			next = next ? next + strlen("</title>") : end;
		} else {
			next = skip_empty_group(body, tag_end);
		}
		if (!next) {
			/* The definitions stood in a group that is closed behind. */
			depth += starts_with(body, "<g") - starts_with(body, "</g");
			if (depth >= 0)
				copy_tag(body, tag_end, out);
			else
				depth = 0;
		}
		body = next ? next : tag_end;
	}
}
