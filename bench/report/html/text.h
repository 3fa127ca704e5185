/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text and numbers as HTML. */
#ifndef UMEMCG_BENCH_REPORT_HTML_TEXT_H
#define UMEMCG_BENCH_REPORT_HTML_TEXT_H

#include <stdio.h>

/* Room for any number written here: digits of a double, separators of three bytes. */
#define HTML_NUMBER_BYTES 1200

/** html_text - text from outside, so that none of it becomes markup; also within quotes */
void html_text(FILE *out, const char *text);

/** html_value - a value, digits in groups of three, four or more of them significant */
const char *html_value(double value, char *text);

/** html_signed - the same with its sign, a true minus */
const char *html_signed(double value, char *text);

/** html_decimals - with so many decimals, signed or not */
const char *html_decimals(double value, int nr_decimals, int is_signed, char *text);

/** html_percent - "+3.20 %", three digits, with a true minus; "n/a" for NAN */
const char *html_percent(double percent, char *text);

#endif
