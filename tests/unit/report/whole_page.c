/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "whole_page.h"

#include <stdio.h>
#include <string.h>

#include "made.h"

size_t page_count(const char *text, const char *part)
{
	size_t nr_found = 0;

	for (; (text = strstr(text, part)); text++)
		nr_found++;
	return nr_found;
}

void assert_page_says(const char *text, const char *expected)
{
	if (!strstr(text, expected))
		fail_msg("no\n%s\nin\n%s", expected, text);
}

/* The start tag's name; and whether it has no end tag. */
static bool is_void(const char *name, const char *tag_end)
{
	return !strcmp(name, "meta") || !strcmp(name, "br") || !strcmp(name, "!DOCTYPE") ||
	       tag_end[-1] == '/';
}

static void assert_attributes(const char *tag, const char *end)
{
	bool quoted = false;

	for (; tag < end; tag++) {
		quoted = quoted != (*tag == '"');
		if (!quoted && *tag == '<')
			fail_msg("a tag within a tag: %.80s", tag);
	}
	assert_false(quoted);
}

static void assert_well_formed(const char *page)
{
	char open[64][24], name[24];
	size_t nr_open = 0;

	for (const char *tag = page; (tag = strchr(tag, '<')); tag++) {
		const char *end = strchr(tag, '>');

		assert_non_null(end);
		assert_attributes(tag + 1, end);
		assert_int_equal(sscanf(tag + 1,
					tag[1] == '/' ? "/%23[A-Za-z0-9]" : "%23[!A-Za-z0-9]",
					name),
				 1);
		if (tag[1] == '/') {
			if (!nr_open || strcmp(open[nr_open - 1], name))
				fail_msg("</%s> closes %s", name,
					 nr_open ? open[nr_open - 1] : "-");
			nr_open--;
		} else if (!is_void(name, end)) {
			assert_true(nr_open < NR(open));
			strcpy(open[nr_open++], name);
		}
		tag = end;
	}
	assert_int_equal(nr_open, 0);
}

/* Every identifier stands once, and whatever refers to one finds it. */
static void assert_identifiers(const char *page)
{
	static const char *const references[] = { "href=\"#", "href='#", "labelledby=\"" };
	char quoted[128], name[100];

	for (const char *id = page; (id = strstr(id, " id=\"")); id++) {
		assert_int_equal(sscanf(id, " id=\"%99[^\"]", name), 1);
		snprintf(quoted, sizeof(quoted), " id=\"%s\"", name);
		if (page_count(page, quoted) != 1)
			fail_msg("%s is there %zu times", quoted, page_count(page, quoted));
	}
	for (size_t i = 0; i < NR(references); i++) {
		for (const char *at = page; (at = strstr(at, references[i])); at++) {
			assert_int_equal(sscanf(at + strlen(references[i]), "%99[^\"']", name), 1);
			snprintf(quoted, sizeof(quoted), " id=\"%s\"", name);
			assert_page_says(page, quoted);
		}
	}
}

void assert_whole_page(const char *page)
{
	assert_well_formed(page);
	assert_identifiers(page);
	/* No mark of the page's making is left in it. */
	for (const char *c = page; *c; c++)
		assert_true((unsigned char)*c >= ' ' || *c == '\n' || *c == '\t');
}
