/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program gnuplot, and its SVG made fit for a page. */
#ifndef UMEMCG_BENCH_REPORT_HTML_GNUPLOT_H
#define UMEMCG_BENCH_REPORT_HTML_GNUPLOT_H

#include <stddef.h>
#include <stdio.h>

/* Room for the reason of a failure. */
#define GNUPLOT_WHY_BYTES 256

/**
 * gnuplot_run - let gnuplot draw
 * @script:    its commands
 * @ret_text:  all drawings one after the other, for free()
 * @why:       GNUPLOT_WHY_BYTES; on failure the reason, in one line
 *
 * Return: 0; a negative errno.
 */
int gnuplot_run(const char *script, char **ret_text, char *why);

/**
 * gnuplot_next_drawing - find the next drawing in the output
 * @text:     what is left of the output
 * @ret_body: the start of what is inside of the drawing, its definitions passed over
 * @ret_end:  its end; the next one is behind
 *
 * Return: 0; -ENOENT if there is none.
 */
int gnuplot_next_drawing(const char *text, const char **ret_body, const char **ret_end);

/**
 * gnuplot_copy - the inside of a drawing, as part of a page
 * @body: from gnuplot_next_drawing()
 * @end:  from there
 * @out:  where to
 *
 * Identifiers, tooltips and empty groups are dropped, points refer to the
 * page's own shapes, and colours become variables of its style sheet.
 */
void gnuplot_copy(const char *body, const char *end, FILE *out);

#endif
