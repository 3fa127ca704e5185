/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whence the numbers come: what was not measured, on what machine, and how to do it again. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/page.h"
#include "report/params.h"

void html_skipped(const struct html_page *page)
{
	const struct comparison *comparison = page->comparison;
	bool any = false;

	for (size_t i = 0; i < comparison->nr_runs; i++)
		any = any || comparison->runs[i].result->nr_skipped;
	if (!any)
		return;
	fputs("<section id=\"skipped\"><h2>Not measured</h2>\n<dl class=\"facts\">\n", page->out);
	for (size_t i = 0; i < comparison->nr_runs; i++) {
		const struct run *run = &comparison->runs[i];

		for (size_t j = 0; j < run->result->nr_skipped; j++) {
			fputs("<div><dt>", page->out);
			if (comparison->nr_runs > 1) {
				html_text(page->out, run->label);
				fputs(": ", page->out);
			}
			html_text(page->out, run->result->skipped[j].what);
			fputs("</dt><dd>", page->out);
			html_text(page->out, run->result->skipped[j].why);
			fputs("</dd></div>\n", page->out);
		}
	}
	fputs("</dl></section>\n", page->out);
}

static void print_fact(FILE *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	fprintf(out, "<div><dt>%s</dt><dd>", name);
	html_text(out, value);
	fputs("</dd></div>\n", out);
}

static void print_numbers(FILE *out, const struct bench_environment *e)
{
	fprintf(out, "<div><dt>processors</dt><dd>%" PRIu32 "</dd></div>\n", e->cpus);
	fprintf(out, "<div><dt>memory</dt><dd>%.1f GiB</dd></div>\n",
		(double)e->memory_bytes / (1 << 30));
	fprintf(out, "<div><dt>load before the start</dt><dd>%.2f</dd></div>\n", e->load);
	fprintf(out, "<div><dt>seed</dt><dd>%" PRIu64 "</dd></div>\n", e->seed);
}

void html_environment(const struct html_page *page)
{
	const struct comparison *comparison = page->comparison;
	FILE *out = page->out;

	fputs("<section id=\"environment\"><h2>Environment</h2>\n", out);
	for (size_t i = 0; i < comparison->nr_runs; i++) {
		const struct bench_result *result = comparison->runs[i].result;
		const struct bench_environment *e = &result->environment;

		fputs("<h3>", out);
		html_text(out, comparison->runs[i].label);
		fputs("</h3>\n<dl class=\"facts\">\n", out);
		print_fact(out, "started", e->started);
		print_fact(out, "processor", e->cpu);
		print_numbers(out, e);
		print_fact(out, "kernel", e->kernel);
		print_fact(out, "its command line", e->command_line);
		print_fact(out, "CONFIG_MEMCG", e->config_memcg);
		print_fact(out, "memory cgroups", e->cgroup);
		print_fact(out, "umemcg", e->umemcg_version);
		print_fact(out, "compiler", e->compiler);
		print_fact(out, "transparent huge pages", e->thp);
		print_fact(out, "address randomisation", e->aslr);
		print_fact(out, "frequency governor", e->governor);
		print_fact(out, "pinning", e->pinning);
		print_fact(out, "warm-up", e->warm_up);
		print_fact(out, "other work", e->busy ? "the machine was busy meanwhile" : "");
		for (size_t j = 0; j < result->nr_notes; j++)
			print_fact(out, "note", result->notes[j]);
		fputs("</dl>\n", out);
	}
	fputs("</section>\n", out);
}

/* A word as a shell reads it back, as HTML. */
static void print_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_=./,:+@%";

	if (*word && !word[strspn(word, plain)]) {
		html_text(out, word);
		return;
	}
	fputs("&#39;", out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("&#39;\\&#39;&#39;", out);
		else
			html_text(out, (char[]){ *word, '\0' });
	}
	fputs("&#39;", out);
}

enum choice { TARGETS, METERS, WORKLOADS, CONFIGURATIONS, NR_CHOICES };

static const char *choice_of(const struct bench_series *series, enum choice choice)
{
	const char *const choices[] = {
		[TARGETS] = series->target,
		[METERS] = series->meter,
		[WORKLOADS] = series->workload,
		[CONFIGURATIONS] = series->config,
	};

	/* The control is always measured, and not a choice. */
	if (choice == CONFIGURATIONS && strcmp(series->config, COMPARISON_CONTROL) == 0)
		return NULL;
	return choices[choice];
}

/* " -w fork,pft": what the series have, each once, in their order. */
static void print_choice(FILE *out, const struct bench_result *result, enum choice choice)
{
	static const char *const options[] = { "-t", "-m", "-w", "-c" };
	char *list = NULL;
	size_t nr_bytes;
	FILE *memory = open_memstream(&list, &nr_bytes);
	const char *separator = "";

	if (!memory)
		return;
	for (size_t i = 0; i < result->nr_series; i++) {
		const char *name = choice_of(result->series[i], choice);
		bool known = !name;

		for (size_t j = 0; j < i && !known; j++) {
			const char *earlier = choice_of(result->series[j], choice);

			known = earlier && strcmp(earlier, name) == 0;
		}
		if (!known) {
			fprintf(memory, "%s%s", separator, name);
			separator = ",";
		}
	}
	if (fclose(memory) == 0 && *list) {
		fprintf(out, " %s ", options[choice]);
		print_word(out, list);
	}
	free(list);
}

static bool compare_workers(const struct bench_result *result, size_t index, size_t earlier)
{
	return !params_differ(result->series[index], result->series[earlier], PARAM_WORKERS);
}

static void print_workers(FILE *out, const struct bench_result *result)
{
	const char *separator = " --workers ";

	for (size_t i = 0; i < result->nr_series; i++) {
		const struct bench_param *workers = params_find(result->series[i], PARAM_WORKERS);
		bool known = !workers || workers->text;

		for (size_t j = 0; j < i && !known; j++)
			known = compare_workers(result, i, j);
		if (known)
			continue;
		fprintf(out, "%s%" PRId64, separator, workers->integer);
		separator = ",";
	}
}

static uint32_t count_blocks(const struct bench_result *result)
{
	uint32_t nr_blocks = 0;

	for (size_t i = 0; i < result->nr_series; i++) {
		const struct bench_series *series = result->series[i];

		for (size_t j = 0; j < series->nr_samples; j++) {
			if (series->samples[j].block >= nr_blocks)
				nr_blocks = series->samples[j].block + 1;
		}
	}
	return nr_blocks;
}

void html_repeat(const struct html_page *page)
{
	const struct comparison *comparison = page->comparison;
	FILE *out = page->out;

	fputs("<section id=\"repeat\"><h2>How to repeat it</h2>\n"
	      "<p>With umemcg installed, on a quiet machine; a command that was measured goes behind "
	      "<code>--</code> in place of <code>-w</code>, and kernels that were given by hand are "
	      "named by <code>--kernel</code> again.</p>\n<pre tabindex=\"0\">",
	      out);
	for (size_t i = 0; i < comparison->nr_runs; i++) {
		const struct bench_result *result = comparison->runs[i].result;
		uint32_t nr_blocks = count_blocks(result);

		fputs("umemcg bench", out);
		for (enum choice choice = TARGETS; choice < NR_CHOICES; choice++)
			print_choice(out, result, choice);
		print_workers(out, result);
		if (nr_blocks)
			fprintf(out, " --runs %" PRIu32, nr_blocks);
		fprintf(out, " --seed %" PRIu64 " --json ", result->environment.seed);
		print_word(out, comparison->runs[i].label);
		fputs(".json\n", out);
	}
	fputs("umemcg compare --format html", out);
	if (comparison->options.across)
		fputs(" --across", out);
	if (comparison->options.base) {
		fputs(" --base ", out);
		print_word(out, comparison->options.base);
	}
	fprintf(out, " --effect %g%s", comparison->options.effect_percent,
		comparison->options.adjust_holm ? " --adjust holm" : "");
	for (size_t i = 0; i < comparison->nr_runs; i++) {
		fputc(' ', out);
		print_word(out, comparison->runs[i].label);
		fputs(".json", out);
	}
	fputs(" &gt; report.html\n</pre></section>\n", out);
}
