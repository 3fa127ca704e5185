/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of the tables that explain a difference: 53 columns of names, then three numbers. */
#ifndef UMEMCG_BENCH_REPORT_EXPLAIN_ROW_H
#define UMEMCG_BENCH_REPORT_EXPLAIN_ROW_H

#include <stdbool.h>
#include <stdio.h>

/** explain_head - an empty line, then the heads of the columns */
void explain_head(FILE *out, const char *name, const char *base, const char *other,
		  const char *added);

/** explain_name - a name and, if it is not "", where that stands; a line more if they are long */
void explain_name(FILE *out, const char *indent, const char *name, const char *path);

/** explain_number - one of the three columns */
void explain_number(FILE *out, double value, int nr_decimals, bool is_signed);

#endif
