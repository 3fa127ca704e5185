/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/profile_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/layout.h"

/* Where the percentages start; longer names move them. */
#define PATH_COLUMNS   67
#define SYMBOL_COLUMNS 76

static int check_sums(const struct bench_profile *profile, struct report_error *error)
{
	uint64_t total = 0;

	for (size_t i = 0; i < profile->nr_files; i++) {
		const struct bench_file *file = &profile->files[i];
		uint64_t sum = 0;

		/* Counts are at most INT64_MAX; saturate rather than wrap. */
		for (size_t j = 0; j < file->nr_symbols; j++) {
			sum += file->symbols[j].count;
			sum = sum > INT64_MAX ? INT64_MAX : sum;
		}
		if (sum != file->count) {
			snprintf(error->text, sizeof(error->text),
				 "profile of %.100s (%.100s): %.300s has %" PRIu64
				 ", its symbols %" PRIu64 "; accepted are files that equal the sum "
				 "of their symbols",
				 profile->workload, profile->config, file->path, file->count, sum);
			return -EINVAL;
		}
		total += file->count;
		total = total > INT64_MAX ? INT64_MAX : total;
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

	ret = check_sums(profile, error);
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

int profile_tables_print(const struct comparison *comparison, FILE *out, struct report_error *error)
{
	int ret = 0;

	for (size_t i = 0; i < comparison->nr_runs; i++) {
		const struct run *run = &comparison->runs[i];

		for (size_t j = 0; !ret && j < run->result->nr_profiles; j++) {
			const struct bench_profile *profile = run->result->profiles[j];

			fprintf(out,
				"\n%s: profile of %s (%s), %s: percent of all %" PRIu64
				" between the marks,\nuser space and interrupts included\n",
				run->label, profile->workload, profile->target, profile->config,
				profile->total);
			ret = profile_table_print(profile, out, error);
		}
	}
	return ret;
}
