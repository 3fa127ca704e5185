/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/html/text.h"

#include <math.h>
#include <string.h>

#include "report/layout.h"

/* A narrow space that breaks no line, and the minus that is as wide as a plus, in UTF-8. */
#define NARROW_SPACE "\xe2\x80\xaf"
#define MINUS        "\xe2\x88\x92"

void html_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			/* Control characters mark places in the page: see plots.c. */
			if ((unsigned char)*text >= ' ')
				fputc(*text, out);
		}
	}
}

/* Copies a number, with its digits before the point in groups and a true minus. */
static const char *dress(const char *number, char *text)
{
	const char *digits = number + strcspn(number, "0123456789");
	size_t nr_digits = strspn(digits, "0123456789");
	char *end = text;

	if (*number == '-')
		end = stpcpy(end, MINUS);
	else if (*number == '+')
		*end++ = '+';
	for (size_t i = 0; i < nr_digits; i++) {
		if (i && (nr_digits - i) % 3 == 0 && nr_digits > 4)
			end = stpcpy(end, NARROW_SPACE);
		*end++ = digits[i];
	}
	strcpy(end, digits + nr_digits);
	return text;
}

static const char *number_of(double value, int is_signed, char *text)
{
	char number[LAYOUT_NUMBER_BYTES];
	double size = fabs(value);
	int nr_decimals = size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 9999.95 ? 1 : 0;

	if (!isfinite(value))
		return "n/a";
	if (value == floor(value))
		nr_decimals = 0;
	return dress(layout_number(value, nr_decimals, is_signed && value != 0, number), text);
}

const char *html_value(double value, char *text)
{
	return number_of(value, 0, text);
}

const char *html_signed(double value, char *text)
{
	return number_of(value, 1, text);
}

const char *html_decimals(double value, int nr_decimals, int is_signed, char *text)
{
	char number[LAYOUT_NUMBER_BYTES];

	if (!isfinite(value))
		return "n/a";
	return dress(layout_number(value, nr_decimals, is_signed && value != 0, number), text);
}

const char *html_percent(double percent, char *text)
{
	char number[LAYOUT_NUMBER_BYTES];

	if (!isfinite(percent))
		return "n/a";
	dress(layout_short(percent, 1, number), text);
	return strcat(text, NARROW_SPACE "%");
}
