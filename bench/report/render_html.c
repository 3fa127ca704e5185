/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report as one page for a browser: html/page.h names its parts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/page.h"

static void print_title(const struct html_page *page)
{
	const struct comparison *comparison = page->comparison;

	fputs("What memory accounting costs", page->out);
	for (size_t i = 0; i < comparison->nr_runs; i++) {
		fputs(i ? ", " : ": ", page->out);
		html_text(page->out, comparison->runs[i].label);
	}
}

static void print_machines(const struct html_page *page)
{
	const struct comparison *comparison = page->comparison;

	for (size_t i = 0; i < comparison->nr_runs; i++) {
		const struct bench_environment *e = &comparison->runs[i].result->environment;

		fputs("<p><b>", page->out);
		html_text(page->out, comparison->runs[i].label);
		fputs("</b> ", page->out);
		html_text(page->out, *e->cpu ? e->cpu : "unknown processor");
		fprintf(page->out, " \xc3\x97 %u, kernel ", e->cpus);
		html_text(page->out, *e->kernel ? e->kernel : "unknown");
		fputs(", ", page->out);
		html_text(page->out, *e->started ? e->started : "unknown time");
		fputs("</p>\n", page->out);
	}
}

static void print_contents(const struct html_page *page)
{
	const struct comparison *comparison = page->comparison;
	const struct {
		const char *id;
		const char *name;
		bool is_there;
	} sections[] = {
		{ "verdicts", "Verdicts", !page->plain },
		{ "workloads", "Workloads", comparison->nr_tables > 0 },
		{ "scaling", "Growth", !page->plain && html_has_scaling(comparison) },
		{ "profiles", "Profile", html_has_profiles(comparison) },
		{ "environment", "Environment", !page->plain },
		{ "repeat", "Repeat it", !page->plain },
		{ "reading", "Reading it", !page->plain },
	};

	fputs("<nav aria-label=\"sections\"><ul>", page->out);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (!sections[i].is_there)
			continue;
		/* Without drawings there is no such section. */
		if (strcmp(sections[i].id, "scaling") == 0)
			html_plots_begin_drawn(page->out);
		fprintf(page->out, "<li><a href=\"#%s\">%s</a></li>", sections[i].id,
			sections[i].name);
		if (strcmp(sections[i].id, "scaling") == 0)
			html_plots_end_drawn(page->out);
	}
	fputs("</ul></nav>\n", page->out);
}

static void print_start(const struct html_page *page)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
	      page->out);
	print_title(page);
	fprintf(page->out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", html_style);
	html_plots_shapes(page->out);
	fputs("<header><h1>What memory accounting costs</h1>\n", page->out);
	print_machines(page);
	print_contents(page);
	fputs("</header>\n<main>\n", page->out);
}

static int print_page(const struct html_page *page, struct report_error *error)
{
	int ret = 0;

	print_start(page);
	if (!page->plain)
		html_verdicts(page);
	html_workloads(page);
	if (!page->plain && html_has_scaling(page->comparison))
		html_scaling(page);
	if (html_has_profiles(page->comparison))
		ret = html_profiles(page, error);
	html_skipped(page);
	if (!page->plain) {
		html_environment(page);
		html_repeat(page);
		html_reading(page);
	}
	fputs("</main>\n</body>\n</html>\n", page->out);
	return ret;
}

static int render(const struct comparison *comparison, const struct render_options *options,
		  FILE *out, struct report_error *error)
{
	struct html_page page = { .comparison = comparison, .plain = options->plain };
	char *text = NULL;
	size_t nr_bytes;
	int ret = html_plots_create(&page.plots);

	if (ret)
		return ret;
	page.out = open_memstream(&text, &nr_bytes);
	ret = page.out ? print_page(&page, error) : -ENOMEM;
	if (page.out && fclose(page.out) && !ret)
		ret = -ENOMEM;
	if (!ret)
		ret = html_plots_finish(page.plots, text, out);
	free(text);
	html_plots_destroy(page.plots);
	return ret;
}

const struct renderer render_html = {
	.name = "html",
	.description = "one page for a browser or paper, with plots, + is slower or more",
	.render = render,
};
