/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/html/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile_difference.h"

/* Symbols that one table shows: more than that are noise, and in the result file. */
#define NR_SHOWN 40

/* A symbol, or a file with the sums of its symbols. */
struct entry {
	const char *path;
	const char *name;
	double count; /* in the profile */
	double other; /* in the base; 0 without */
	bool is_shown;
};

struct entries {
	struct entry *symbols; /* sorted by path, then name */
	size_t nr_symbols;
	struct entry *files;
	size_t nr_files;
	double largest; /* size of the largest bar */
};

/* What the table is about: the count, or what it is more than the base's. */
static double weight(const struct entry *entry, bool is_difference)
{
	return is_difference ? entry->count - entry->other : entry->count;
}

static int by_name(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;
	int order = strcmp(left->path, right->path);

	return order ? order : strcmp(left->name, right->name);
}

static int by_size(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;
	double one = fabs(left->count - left->other), other = fabs(right->count - right->other);

	if (one != other)
		return one < other ? 1 : -1;
	return by_name(a, b);
}

static int add_profile(struct entries *entries, const struct bench_profile *profile)
{
	size_t nr_symbols = 0;

	for (size_t i = 0; i < profile->nr_files; i++)
		nr_symbols += profile->files[i].nr_symbols;
	entries->symbols = calloc(nr_symbols + 1, sizeof(*entries->symbols));
	if (!entries->symbols)
		return -ENOMEM;
	for (size_t i = 0; i < profile->nr_files; i++) {
		const struct bench_file *file = &profile->files[i];

		for (size_t j = 0; j < file->nr_symbols; j++)
			entries->symbols[entries->nr_symbols++] = (struct entry){
				.path = file->path,
				.name = file->symbols[j].name,
				.count = (double)file->symbols[j].count,
			};
	}
	return 0;
}

static int add_difference(struct entries *entries, const struct profile_difference *difference)
{
	entries->symbols = calloc(difference->nr_symbols + 1, sizeof(*entries->symbols));
	if (!entries->symbols)
		return -ENOMEM;
	for (size_t i = 0; i < difference->nr_symbols; i++) {
		const struct symbol_difference *symbol = &difference->symbols[i];

		entries->symbols[entries->nr_symbols++] = (struct entry){
			.path = symbol->path,
			.name = symbol->name,
			.count = (double)symbol->count.other,
			.other = (double)symbol->count.base,
		};
	}
	return 0;
}

static void sum_files(struct entries *entries)
{
	for (size_t i = 0; i < entries->nr_symbols; i++) {
		const struct entry *symbol = &entries->symbols[i];
		struct entry *file =
			entries->nr_files ? &entries->files[entries->nr_files - 1] : NULL;

		if (!file || strcmp(file->path, symbol->path)) {
			file = &entries->files[entries->nr_files++];
			*file = (struct entry){ .path = symbol->path, .name = "" };
		}
		file->count += symbol->count;
		file->other += symbol->other;
	}
}

/* The largest come first, of both; files are shown if one of their symbols is. */
static void choose(struct entries *entries)
{
	qsort(entries->symbols, entries->nr_symbols, sizeof(*entries->symbols), by_size);
	qsort(entries->files, entries->nr_files, sizeof(*entries->files), by_size);
	for (size_t i = 0; i < entries->nr_symbols && i < NR_SHOWN; i++) {
		struct entry *symbol = &entries->symbols[i];
		double size = fabs(symbol->count - symbol->other);

		symbol->is_shown = size > 0;
		entries->largest = fmax(entries->largest, size);
		for (size_t j = 0; symbol->is_shown && j < entries->nr_files; j++) {
			if (strcmp(entries->files[j].path, symbol->path) == 0)
				entries->files[j].is_shown = true;
		}
	}
}

static int entries_init(struct entries *entries, const struct bench_profile *profile,
			const struct bench_profile *base)
{
	struct profile_difference *difference = NULL;
	struct report_error error;
	int ret = 0;

	*entries = (struct entries){ 0 };
	if (base)
		ret = profile_difference_create(base, profile, &difference, &error);
	if (!ret)
		ret = base ? add_difference(entries, difference) : add_profile(entries, profile);
	profile_difference_destroy(difference);
	entries->files = calloc(entries->nr_symbols + 1, sizeof(*entries->files));
	if (ret || !entries->files)
		return -ENOMEM;
	qsort(entries->symbols, entries->nr_symbols, sizeof(*entries->symbols), by_name);
	sum_files(entries);
	choose(entries);
	return 0;
}

static void entries_fini(struct entries *entries)
{
	free(entries->symbols);
	free(entries->files);
}

/* How numbers are printed: counts of everything, or of one operation. */
struct scale {
	bool is_difference;
	double divisor;
	double total;
	double largest;
};

static void print_numbers(const struct entry *entry, const struct scale *scale, FILE *out)
{
	double value = weight(entry, scale->is_difference) / scale->divisor;
	double percent =
		scale->total > 0 ? 100 * weight(entry, scale->is_difference) / scale->total : NAN;
	char text[HTML_NUMBER_BYTES];

	if (scale->is_difference)
		fprintf(out, "<td>%s</td>", html_value(entry->other / scale->divisor, text));
	fprintf(out, "<td>%s</td>",
		scale->is_difference ? html_signed(value, text) : html_value(value, text));
	html_percent(percent, text);
	fprintf(out, "<td>%s</td>", text + (!scale->is_difference && *text == '+'));
}

static void print_symbol(const struct entry *symbol, const struct scale *scale, FILE *out)
{
	double size = weight(symbol, scale->is_difference);

	fputs("<tr><th scope=\"row\">", out);
	html_text(out, symbol->name);
	fprintf(out,
		"</th><td class=\"bar\" aria-hidden=\"true\"><i class=\"%s\" style=\"width:%.1f%%\"></i></td>",
		!scale->is_difference ? "share"
		: size > 0            ? "more"
				      : "less",
		100 * fabs(size) / scale->largest);
	print_numbers(symbol, scale, out);
	fputs("</tr>\n", out);
}

static void print_file(const struct entries *entries, const struct entry *file,
		       const struct scale *scale, FILE *out)
{
	size_t nr_hidden = 0;

	fputs("<tbody><tr class=\"head\"><th scope=\"rowgroup\" colspan=\"2\">", out);
	html_text(out, file->path);
	fputs("</th>", out);
	print_numbers(file, scale, out);
	fputs("</tr>\n", out);
	for (size_t i = 0; i < entries->nr_symbols; i++) {
		const struct entry *symbol = &entries->symbols[i];

		if (strcmp(symbol->path, file->path))
			continue;
		if (symbol->is_shown)
			print_symbol(symbol, scale, out);
		else
			nr_hidden += symbol->count != symbol->other;
	}
	if (nr_hidden)
		fprintf(out, "<tr><td class=\"rest\" colspan=\"%d\">and %zu smaller %s</td></tr>\n",
			scale->is_difference ? 5 : 4, nr_hidden,
			nr_hidden == 1 ? "symbol" : "symbols");
	fputs("</tbody>\n", out);
}

/* Files of which no symbol is among the largest, as one line; and what no file has. */
static void print_rest(const struct entries *entries, const struct scale *scale,
		       const struct bench_profile *profile, const struct bench_profile *base,
		       FILE *out)
{
	struct entry rest = { 0 }, outside = { .count = (double)profile->total,
					       .other = base ? (double)base->total : 0 };
	size_t nr_files = 0;

	for (size_t i = 0; i < entries->nr_files; i++) {
		const struct entry *file = &entries->files[i];

		outside.count -= file->count;
		outside.other -= file->other;
		if (file->is_shown || file->count == file->other)
			continue;
		nr_files++;
		rest.count += file->count;
		rest.other += file->other;
	}
	fputs("<tbody>", out);
	if (nr_files) {
		fprintf(out, "<tr class=\"head\"><th scope=\"row\" colspan=\"2\">%zu other %s</th>",
			nr_files, nr_files == 1 ? "file" : "files");
		print_numbers(&rest, scale, out);
		fputs("</tr>\n", out);
	}
	if (outside.count > 0 || outside.other > 0) {
		fputs("<tr class=\"head\"><th scope=\"row\" colspan=\"2\">in none of the files</th>",
		      out);
		print_numbers(&outside, scale, out);
		fputs("</tr>\n", out);
	}
	fputs("</tbody>", out);
}

int html_symbols(const struct html_page *page, const struct bench_profile *profile,
		 const struct bench_profile *base)
{
	bool per_operation =
		profile->operations && (!base || base->operations == profile->operations);
	struct entries entries;
	struct scale scale = {
		.is_difference = base != NULL,
		.divisor = per_operation ? (double)profile->operations : 1,
		.total = (double)(base ? base->total : profile->total),
	};
	int ret = entries_init(&entries, profile, base);
	FILE *out = page->out;

	scale.largest = entries.largest > 0 ? entries.largest : 1;
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"symbols, ", out);
	html_text(out, profile->config);
	fputs("\"><table class=\"profile\">\n<thead><tr><th scope=\"col\" colspan=\"2\">file and "
	      "symbol</th>",
	      out);
	if (base) {
		fputs("<th scope=\"col\">", out);
		html_text(out, base->config);
		fputs("</th><th scope=\"col\">more</th>", out);
	} else {
		fprintf(out, "<th scope=\"col\">%s</th>",
			per_operation ? "count an operation" : "count");
	}
	fprintf(out, "<th scope=\"col\">percent%s</th></tr></thead>\n", base ? " of base" : "");
	for (size_t i = 0; !ret && i < entries.nr_files; i++) {
		if (entries.files[i].is_shown)
			print_file(&entries, &entries.files[i], &scale, out);
	}
	if (!ret)
		print_rest(&entries, &scale, profile, base, out);
	fputs("</table></div>\n", out);
	entries_fini(&entries);
	return ret;
}
