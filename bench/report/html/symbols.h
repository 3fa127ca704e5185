/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The symbols of one profile, or of the difference of two, as a table with bars. */
#ifndef UMEMCG_BENCH_REPORT_HTML_SYMBOLS_H
#define UMEMCG_BENCH_REPORT_HTML_SYMBOLS_H

#include "report/html/page.h"

/**
 * html_symbols - print that table
 * @page:    the page
 * @profile: checked
 * @base:    to show the difference to, or NULL
 *
 * Return: 0; -ENOMEM.
 */
int html_symbols(const struct html_page *page, const struct bench_profile *profile,
		 const struct bench_profile *base);

#endif
