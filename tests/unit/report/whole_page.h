/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must hold of any page of the HTML renderer. */
#ifndef UMEMCG_TESTS_REPORT_WHOLE_PAGE_H
#define UMEMCG_TESTS_REPORT_WHOLE_PAGE_H

#include <stddef.h>

/** page_count - how often a text is in the page */
size_t page_count(const char *text, const char *part);

/** assert_page_says - it is there at least once */
void assert_page_says(const char *text, const char *expected);

/**
 * assert_whole_page - every element is closed in its place, every identifier is there once, what
 * refers to one finds it, and no control character is left
 */
void assert_whole_page(const char *page);

#endif
