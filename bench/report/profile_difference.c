/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/profile_difference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile_table.h"

void difference_add(struct count_difference *sum, const struct count_difference *count)
{
	/* Sums stay below those of the profiles, which were checked: at most INT64_MAX. */
	sum->base += count->base;
	sum->other += count->other;
	sum->added = (int64_t)sum->other - (int64_t)sum->base;
}

uint64_t difference_size(const struct count_difference *count)
{
	return count->added < 0 ? 0 - (uint64_t)count->added : (uint64_t)count->added;
}

static int by_name(const void *a, const void *b)
{
	const struct symbol_difference *left = a, *right = b;
	int order = strcmp(left->path, right->path);

	return order ? order : strcmp(left->name, right->name);
}

static int compare_sizes(const struct count_difference *left, const struct count_difference *right)
{
	uint64_t one = difference_size(left), other = difference_size(right);

	return (one < other) - (one > other);
}

static int by_size_in_file(const void *a, const void *b)
{
	const struct symbol_difference *left = a, *right = b;
	int order = compare_sizes(&left->count, &right->count);

	return order ? order : by_name(a, b);
}

static int by_size(const void *a, const void *b)
{
	return by_size_in_file(*(struct symbol_difference *const *)a,
			       *(struct symbol_difference *const *)b);
}

static int by_file_size(const void *a, const void *b)
{
	const struct file_difference *left = a, *right = b;
	int order = compare_sizes(&left->count, &right->count);

	return order ? order : strcmp(left->path, right->path);
}

static size_t count_symbols(const struct bench_profile *profile)
{
	size_t nr_symbols = 0;

	for (size_t i = 0; i < profile->nr_files; i++)
		nr_symbols += profile->files[i].nr_symbols;
	return nr_symbols;
}

/* Appends the symbols of one side; those of the two sides meet later. */
static void append_symbols(struct profile_difference *difference,
			   const struct bench_profile *profile)
{
	for (size_t i = 0; i < profile->nr_files; i++) {
		const struct bench_file *file = &profile->files[i];

		for (size_t j = 0; j < file->nr_symbols; j++) {
			struct count_difference count = { 0 };

			if (profile == difference->other)
				count.other = file->symbols[j].count;
			else
				count.base = file->symbols[j].count;
			difference->symbols[difference->nr_symbols++] =
				(struct symbol_difference){ file->path, file->symbols[j].name,
							    count, false };
		}
	}
}

static void merge_symbols(struct profile_difference *difference)
{
	struct symbol_difference *symbols = difference->symbols;
	size_t nr_merged = 0;

	if (difference->nr_symbols)
		qsort(symbols, difference->nr_symbols, sizeof(*symbols), by_name);
	for (size_t i = 0; i < difference->nr_symbols; i++) {
		struct count_difference count = symbols[i].count;

		if (!nr_merged || by_name(&symbols[nr_merged - 1], &symbols[i])) {
			symbols[nr_merged] = symbols[i];
			symbols[nr_merged++].count = (struct count_difference){ 0 };
		}
		difference_add(&symbols[nr_merged - 1].count, &count);
	}
	difference->nr_symbols = nr_merged;
}

static int group_files(struct profile_difference *difference)
{
	struct file_difference *file;

	difference->files = calloc(difference->nr_symbols + 1, sizeof(*difference->files));
	if (!difference->files)
		return -ENOMEM;
	for (size_t i = 0; i < difference->nr_symbols; i++) {
		struct symbol_difference *symbol = &difference->symbols[i];

		if (!difference->nr_files ||
		    strcmp(difference->files[difference->nr_files - 1].path, symbol->path))
			difference->files[difference->nr_files++] =
				(struct file_difference){ .path = symbol->path, .symbols = symbol };
		file = &difference->files[difference->nr_files - 1];
		file->nr_symbols++;
		difference_add(&file->count, &symbol->count);
	}
	for (size_t i = 0; i < difference->nr_files; i++) {
		file = &difference->files[i];
		qsort(file->symbols, file->nr_symbols, sizeof(*file->symbols), by_size_in_file);
	}
	qsort(difference->files, difference->nr_files, sizeof(*difference->files), by_file_size);
	return 0;
}

bool difference_is_needed(double explained, double all)
{
	return explained < all * DIFFERENCE_EXPLAINED_PERCENT / 100;
}

static int choose_symbols(struct profile_difference *difference)
{
	struct symbol_difference **sorted =
		calloc(difference->nr_symbols + 1, sizeof(struct symbol_difference *));
	double explained = 0, all = 0;

	if (!sorted)
		return -ENOMEM;
	difference->sorted = sorted;
	for (size_t i = 0; i < difference->nr_symbols; i++) {
		sorted[i] = &difference->symbols[i];
		all += (double)difference_size(&sorted[i]->count);
	}
	qsort(sorted, difference->nr_symbols, sizeof(*sorted), by_size);
	for (size_t i = 0; i < difference->nr_symbols; i++) {
		sorted[i]->explains = difference_is_needed(explained, all);
		explained += (double)difference_size(&sorted[i]->count);
		if (sorted[i]->explains)
			difference->nr_explaining++;
		else
			difference_add(&difference->rest, &sorted[i]->count);
	}
	return 0;
}

static void choose_files(struct profile_difference *difference)
{
	double explained = 0, all = 0;

	for (size_t i = 0; i < difference->nr_files; i++)
		all += (double)difference_size(&difference->files[i].count);
	for (size_t i = 0; i < difference->nr_files; i++) {
		struct file_difference *file = &difference->files[i];

		file->explains = difference_is_needed(explained, all);
		explained += (double)difference_size(&file->count);
		for (size_t j = 0; j < file->nr_symbols; j++)
			file->has_explaining |= file->symbols[j].explains;
	}
}

static void sum_up(struct profile_difference *difference)
{
	const struct count_difference total = { difference->base->total, difference->other->total,
						0 };

	difference_add(&difference->total, &total);
	difference->elsewhere = difference->total;
	for (size_t i = 0; i < difference->nr_files; i++) {
		difference->elsewhere.base -= difference->files[i].count.base;
		difference->elsewhere.other -= difference->files[i].count.other;
		difference->elsewhere.added -= difference->files[i].count.added;
	}
}

static int take_difference(struct profile_difference *difference, struct report_error *error)
{
	int ret;

	ret = profile_check_sums(difference->base, error);
	if (!ret)
		ret = profile_check_sums(difference->other, error);
	if (ret)
		return ret;
	difference->symbols =
		calloc(count_symbols(difference->base) + count_symbols(difference->other) + 1,
		       sizeof(*difference->symbols));
	if (!difference->symbols)
		return -ENOMEM;
	append_symbols(difference, difference->base);
	append_symbols(difference, difference->other);
	merge_symbols(difference);
	ret = group_files(difference);
	if (!ret)
		ret = choose_symbols(difference);
	if (ret)
		return ret;
	choose_files(difference);
	sum_up(difference);
	return 0;
}

int profile_difference_create(const struct bench_profile *base, const struct bench_profile *other,
			      struct profile_difference **ret_difference,
			      struct report_error *error)
{
	struct profile_difference *difference = calloc(1, sizeof(*difference));
	int ret;

	if (!difference)
		return -ENOMEM;
	difference->base = base;
	difference->other = other;
	ret = take_difference(difference, error);
	if (ret) {
		profile_difference_destroy(difference);
		return ret;
	}
	*ret_difference = difference;
	return 0;
}

void profile_difference_destroy(struct profile_difference *difference)
{
	if (!difference)
		return;
	free(difference->sorted);
	free(difference->symbols);
	free(difference->files);
	free(difference);
}
