/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/layout.h"

#include <math.h>

#include "report/text.h"

static void spaces(FILE *out, size_t nr_spaces)
{
	while (nr_spaces--)
		fputc(' ', out);
}

void layout_left(FILE *out, const char *text, size_t nr_columns)
{
	size_t nr_taken = text_columns(text);

	fputs(text, out);
	spaces(out, nr_taken < nr_columns ? nr_columns - nr_taken : 0);
}

void layout_right(FILE *out, const char *text, size_t nr_columns)
{
	size_t nr_taken = text_columns(text);

	spaces(out, nr_taken < nr_columns ? nr_columns - nr_taken : 0);
	fputs(text, out);
}

void layout_rule(FILE *out, char c, size_t nr_columns)
{
	while (nr_columns--)
		fputc(c, out);
	fputc('\n', out);
}

const char *layout_number(double value, int nr_decimals, int is_signed, char *text)
{
	if (!isfinite(value))
		return "n/a";
	if (fabs(value) < 0.5 * pow(10, -nr_decimals))
		value = 0;
	snprintf(text, LAYOUT_NUMBER_BYTES, is_signed ? "%+.*f" : "%.*f", nr_decimals, value);
	return text;
}

const char *layout_short(double value, int is_signed, char *text)
{
	double size = fabs(value);

	/* What would round to a further digit has one decimal less. */
	return layout_number(value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0, is_signed, text);
}

size_t layout_widen(size_t nr_columns, const char *text)
{
	size_t nr_taken = text_columns(text);

	return nr_taken > nr_columns ? nr_taken : nr_columns;
}
