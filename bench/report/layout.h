/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of text: padding by what a terminal shows, and numbers that may be undefined. */
#ifndef UMEMCG_BENCH_REPORT_LAYOUT_H
#define UMEMCG_BENCH_REPORT_LAYOUT_H

#include <stddef.h>
#include <stdio.h>

/** layout_left - text, then spaces up to @nr_columns; longer text is not cut */
void layout_left(FILE *out, const char *text, size_t nr_columns);

/** layout_right - spaces, then text, @nr_columns in all; longer text is not cut */
void layout_right(FILE *out, const char *text, size_t nr_columns);

/** layout_rule - a line of @c */
void layout_rule(FILE *out, char c, size_t nr_columns);

/* Room for any number that layout_number() writes. */
#define LAYOUT_NUMBER_BYTES 400

/**
 * layout_number - a number with a fixed number of decimals
 * @value:       NAN and infinities give "n/a"; what rounds to zero has no minus
 * @nr_decimals: behind the point
 * @is_signed:   with a plus sign if positive
 * @text:        LAYOUT_NUMBER_BYTES
 *
 * Return: @text.
 */
const char *layout_number(double value, int nr_decimals, int is_signed, char *text);

/** layout_short - as layout_number(), signed or not, with three digits: 1.23, 12.3, 123 */
const char *layout_short(double value, int is_signed, char *text);

/** layout_widen - the larger of @nr_columns and the columns of @text */
size_t layout_widen(size_t nr_columns, const char *text);

#endif
