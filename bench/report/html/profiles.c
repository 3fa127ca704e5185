/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where instructions went: a bar for each of the largest symbols, below the
 * sums of their files; and for what has a base in its result, the same of the
 * difference to it.
 */
#include <stdlib.h>
#include <string.h>

#include "report/html/page.h"
#include "report/html/symbols.h"
#include "report/params.h"
#include "report/profile_base.h"
#include "report/profile_table.h"

bool html_has_profiles(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->nr_runs; i++) {
		if (comparison->runs[i].result->nr_profiles)
			return true;
	}
	return false;
}

static bool is_same_work(const struct bench_profile *left, const struct bench_profile *right)
{
	return strcmp(left->workload, right->workload) == 0 &&
	       strcmp(left->target, right->target) == 0 && left->part == right->part &&
	       params_compare_lists(left->params, left->nr_params, right->params,
				    right->nr_params) == 0;
}

/* "+482.0 an operation" */
static void print_operations(const struct html_page *page, const struct bench_profile *profile,
			     const struct bench_profile *base)
{
	double more = (double)profile->total - (double)base->total;
	char text[HTML_NUMBER_BYTES];

	if (profile->operations && profile->operations == base->operations)
		fprintf(page->out, "%s an operation",
			html_signed(more / (double)profile->operations, text));
	else
		fputs(html_signed(more, text), page->out);
}

static void print_params(const struct html_page *page, const struct bench_profile *profile)
{
	for (size_t i = 0; i < profile->nr_params; i++) {
		char *value = NULL;
		size_t nr_bytes;
		FILE *memory = open_memstream(&value, &nr_bytes);

		fputs(", ", page->out);
		html_text(page->out, profile->params[i].name);
		fputs(" ", page->out);
		if (!memory)
			continue;
		params_print_value(&profile->params[i], memory);
		if (fclose(memory) == 0)
			html_text(page->out, value);
		free(value);
	}
	if (profile->part == BENCH_PART_APART)
		fputs(", apart", page->out);
}

static void print_name(const struct html_page *page, size_t run,
		       const struct bench_profile *profile)
{
	if (page->comparison->nr_runs > 1) {
		html_text(page->out, page->comparison->runs[run].label);
		fputs(": ", page->out);
	}
	html_text(page->out, profile->workload);
	print_params(page, profile);
	fprintf(page->out, " <span>target %s</span>", profile->target);
}

static void print_config(const struct html_page *page, const struct profile_place *place,
			 const struct profile_place *beside)
{
	const struct bench_profile *profile = place->profile;

	if (beside && beside->run != place->run) {
		html_text(page->out, page->comparison->runs[place->run].label);
		fputs(": ", page->out);
	}
	html_text(page->out, profile->config);
	if (beside && params_compare_lists(profile->params, profile->nr_params,
					   beside->profile->params, beside->profile->nr_params))
		print_params(page, profile);
}

/* Of the place alone, or what it changes against the base. */
static int print_profile(const struct html_page *page, const struct profile_place *place,
			 const struct profile_place *base, bool open)
{
	char text[HTML_NUMBER_BYTES];
	FILE *out = page->out;
	int ret;

	fprintf(out, "<details%s><summary>", open ? " open" : "");
	print_config(page, place, base);
	if (base) {
		fputs(": what it changes against ", out);
		print_config(page, base, place);
		fputs(", ", out);
		print_operations(page, place->profile, base->profile);
	} else {
		fprintf(out, ": where all of its %s went",
			html_value((double)place->profile->total, text));
	}
	fputs("</summary>\n", out);
	ret = html_symbols(page, place->profile, base ? base->profile : NULL);
	fputs("</details>\n", out);
	return ret;
}

/* All profiles of the work of profile @first of a result, unless an earlier one has printed them.
 */
static int print_work(const struct html_page *page, size_t run, size_t first)
{
	const struct bench_result *result = page->comparison->runs[run].result;
	const struct bench_profile *profile = result->profiles[first];
	bool open = true;
	int ret = 0;

	for (size_t i = 0; i < first; i++) {
		if (is_same_work(result->profiles[i], profile))
			return 0;
	}
	fputs("<h3>", page->out);
	print_name(page, run, profile);
	fputs("</h3>\n", page->out);
	for (size_t i = first; !ret && i < result->nr_profiles; i++) {
		const struct profile_place place = { run, result->profiles[i] };
		struct profile_place base, kernel;
		bool has_base, has_kernel;

		if (!is_same_work(place.profile, profile))
			continue;
		has_base = profile_find_base(page->comparison, &place, &base);
		has_kernel = profile_find_kernel(page->comparison, &place, &kernel);
		if (has_base)
			ret = print_profile(page, &place, &base, open);
		if (!ret && has_kernel)
			ret = print_profile(page, &place, &kernel, open && !has_base);
		if (has_base || has_kernel)
			open = false;
		else if (!ret)
			ret = print_profile(page, &place, NULL, result->nr_profiles == 1);
	}
	return ret;
}

int html_profiles(const struct html_page *page, struct report_error *error)
{
	const struct comparison *comparison = page->comparison;
	int ret = 0;

	fputs("<section id=\"profiles\"><h2>Where it goes</h2>\n"
	      "<p>Percentages are of everything between the marks, user space and interrupts "
	      "included, and of what was put off. The largest symbols of each file are shown; a file&#39;s sum holds all "
	      "of them.</p>\n",
	      page->out);
	for (size_t i = 0; i < comparison->nr_runs; i++) {
		const struct bench_result *result = comparison->runs[i].result;

		for (size_t j = 0; !ret && j < result->nr_profiles; j++)
			ret = profile_check_sums(result->profiles[j], error);
		for (size_t j = 0; !ret && j < result->nr_profiles; j++)
			ret = print_work(page, i, j);
	}
	fputs("</section>\n", page->out);
	return ret;
}
