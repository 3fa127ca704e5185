/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/profile_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/layout.h"
#include "report/params.h"
#include "report/profile_base.h"
#include "report/profile_difference.h"
#include "report/surroundings.h"

/* Where the percentages start; longer names move them. */
#define PATH_COLUMNS   67
#define SYMBOL_COLUMNS 76

int profile_check_sums(const struct bench_profile *profile, struct report_error *error)
{
	uint64_t total = 0;

	for (size_t i = 0; i < profile->nr_files; i++) {
		const struct bench_file *file = &profile->files[i];
		uint64_t sum = 0;

		/* Counts are at most INT64_MAX: a sum above that is wrong, and must not wrap. */
		for (size_t j = 0; j < file->nr_symbols && sum <= INT64_MAX; j++)
			sum += file->symbols[j].count;
		if (sum != file->count) {
			snprintf(error->text, sizeof(error->text),
				 "profile of %.100s (%.100s): %.300s has %" PRIu64
				 ", its symbols %" PRIu64 "; accepted are files that equal the sum "
				 "of their symbols",
				 profile->workload, profile->config, file->path, file->count, sum);
			return -EINVAL;
		}
		if (total <= INT64_MAX)
			total += file->count;
	}
	if (total > profile->total) {
		snprintf(error->text, sizeof(error->text),
			 "profile of %.100s (%.100s): its total is %" PRIu64
			 ", its files have %" PRIu64 "; accepted is a total of at least that",
			 profile->workload, profile->config, profile->total, total);
		return -EINVAL;
	}
	return 0;
}

static int by_file_count(const void *a, const void *b)
{
	const struct bench_file *left = *(const struct bench_file *const *)a;
	const struct bench_file *right = *(const struct bench_file *const *)b;

	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return strcmp(left->path, right->path);
}

static int by_symbol_count(const void *a, const void *b)
{
	const struct bench_symbol *left = *(const struct bench_symbol *const *)a;
	const struct bench_symbol *right = *(const struct bench_symbol *const *)b;

	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return strcmp(left->name, right->name);
}

static double share(uint64_t count, uint64_t total)
{
	return total ? 100 * (double)count / (double)total : 0;
}

static int print_file(const struct bench_file *file, uint64_t total, FILE *out)
{
	const struct bench_symbol **symbols = calloc(file->nr_symbols + 1, sizeof(*symbols));

	if (!symbols)
		return -ENOMEM;
	for (size_t i = 0; i < file->nr_symbols; i++)
		symbols[i] = &file->symbols[i];
	qsort(symbols, file->nr_symbols, sizeof(*symbols), by_symbol_count);
	layout_left(out, file->path, PATH_COLUMNS - 1);
	fprintf(out, " %8.4f %8" PRIu64 "\n", share(file->count, total), file->count);
	for (size_t i = 0; i < file->nr_symbols; i++) {
		fputs("  ", out);
		layout_left(out, symbols[i]->name, SYMBOL_COLUMNS - 1);
		fprintf(out, " %6.3f%% %8" PRIu64 "\n", share(symbols[i]->count, total),
			symbols[i]->count);
	}
	free(symbols);
	return 0;
}

int profile_table_print(const struct bench_profile *profile, FILE *out, struct report_error *error)
{
	const struct bench_file **files;
	int ret;

	ret = profile_check_sums(profile, error);
	if (ret)
		return ret;
	files = calloc(profile->nr_files + 1, sizeof(*files));
	if (!files)
		return -ENOMEM;
	for (size_t i = 0; i < profile->nr_files; i++)
		files[i] = &profile->files[i];
	qsort(files, profile->nr_files, sizeof(*files), by_file_count);
	for (size_t i = 0; !ret && i < profile->nr_files; i++)
		ret = print_file(files[i], profile->total, out);
	free(files);
	return ret;
}

void profile_print_state(const struct bench_profile *profile, FILE *out)
{
	fputs(profile->config, out);
	for (size_t i = 0; i < profile->nr_params; i++) {
		fprintf(out, ", %s ", profile->params[i].name);
		params_print_value(&profile->params[i], out);
	}
	if (profile->part == BENCH_PART_APART)
		fputs(", apart", out);
}

void profile_print_heading(const char *label, const struct bench_profile *profile,
			   const char *after, FILE *out)
{
	char *text = NULL;
	size_t nr_bytes;
	FILE *line = open_memstream(&text, &nr_bytes);

	if (!line)
		return;
	fprintf(line, "%s%sprofile of %s (%s), ", label ? label : "", label ? ": " : "",
		profile->workload, profile->target);
	profile_print_state(profile, line);
	fprintf(line, ": percent of all %" PRIu64 "%s", profile->total, after);
	if (!fclose(line))
		surroundings_wrap(out, text, 0);
	free(text);
}

static int print_difference(const struct comparison *comparison, const struct profile_place *place,
			    const struct profile_place *base, FILE *out, struct report_error *error)
{
	struct profile_difference *difference;
	char *labels = NULL;
	int ret;

	if (place->run != base->run &&
	    asprintf(&labels, "%s against %s, ", comparison->runs[place->run].label,
		     comparison->runs[base->run].label) < 0)
		return -ENOMEM;
	ret = profile_difference_create(base->profile, place->profile, &difference, error);
	if (!ret) {
		fputc('\n', out);
		profile_difference_title(difference, labels ? labels : "", "", out);
		profile_difference_print(difference, out);
		profile_difference_destroy(difference);
	}
	free(labels);
	return ret;
}

static int print_place(const struct comparison *comparison, const struct profile_place *place,
		       FILE *out, struct report_error *error)
{
	struct profile_place base;
	int ret;

	fputc('\n', out);
	profile_print_heading(comparison->runs[place->run].label, place->profile,
			      " between the marks,", out);
	fputs("user space, interrupts and work put off included\n", out);
	ret = profile_table_print(place->profile, out, error);
	if (!ret && profile_find_base(comparison, place, &base))
		ret = print_difference(comparison, place, &base, out, error);
	if (!ret && profile_find_kernel(comparison, place, &base))
		ret = print_difference(comparison, place, &base, out, error);
	return ret;
}

int profile_tables_print(const struct comparison *comparison, FILE *out, struct report_error *error)
{
	int ret = 0;

	for (size_t i = 0; i < comparison->nr_runs; i++) {
		const struct bench_result *result = comparison->runs[i].result;

		for (size_t j = 0; !ret && j < result->nr_profiles; j++) {
			const struct profile_place place = { i, result->profiles[j] };

			ret = print_place(comparison, &place, out, error);
		}
	}
	return ret;
}
