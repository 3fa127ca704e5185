/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two profiles of one workload, symbol by symbol: what the second has more or less of than the
 * first, and which symbols explain nearly all of it.
 */
#ifndef UMEMCG_BENCH_REPORT_PROFILE_DIFFERENCE_H
#define UMEMCG_BENCH_REPORT_PROFILE_DIFFERENCE_H

#include <stdio.h>

#include "report/result.h"

/* Of the differences, whatever their sign, in percent: the rest is many small ones. */
#define DIFFERENCE_EXPLAINED_PERCENT 95

struct count_difference {
	uint64_t base;
	uint64_t other;
	int64_t added; /* other - base */
};

/** difference_add - add to a sum that stays below INT64_MAX on both sides */
void difference_add(struct count_difference *sum, const struct count_difference *count);

/** difference_size - without its sign */
uint64_t difference_size(const struct count_difference *count);

/** difference_is_needed - must the next largest be shown, when so much of @all has been? */
bool difference_is_needed(double explained, double all);

struct symbol_difference {
	const char *path; /* these belong to the profiles */
	const char *name;
	struct count_difference count;
	bool explains; /* one of the largest, which together make up nearly all */
};

struct file_difference {
	const char *path;
	struct count_difference count;     /* the sum of all its symbols' */
	struct symbol_difference *symbols; /* the largest first */
	size_t nr_symbols;
	bool explains;       /* as of a symbol, among the files */
	bool has_explaining; /* has a symbol that explains */
};

struct profile_difference {
	const struct bench_profile *base;
	const struct bench_profile *other;
	struct symbol_difference *symbols; /* of one file together */
	size_t nr_symbols;
	struct symbol_difference **sorted; /* all of them, the largest first */
	size_t nr_explaining;              /* the first so many */
	struct file_difference *files;     /* the largest first */
	size_t nr_files;
	struct count_difference total;
	struct count_difference elsewhere; /* in the totals, and in none of the files */
	struct count_difference rest;      /* sum of the symbols that do not explain */
};

/**
 * profile_difference_create - take one profile from another
 * @base:           both live until profile_difference_destroy()
 * @other:          in which something was added
 * @ret_difference: for profile_difference_destroy()
 * @error:          on -EINVAL one line
 *
 * Return: 0; -EINVAL for a profile that contradicts itself; -ENOMEM.
 */
int profile_difference_create(const struct bench_profile *base, const struct bench_profile *other,
			      struct profile_difference **ret_difference,
			      struct report_error *error);

/** profile_difference_destroy - free it, not the profiles; may be NULL */
void profile_difference_destroy(struct profile_difference *difference);

/**
 * profile_difference_title - "pft (kernel): Set, apart against disabled, apart", in 80 columns
 * @difference: live
 * @before:     put before it in the same line
 * @after:      put behind it
 * @out:        where to
 */
void profile_difference_title(const struct profile_difference *difference, const char *before,
			      const char *after, FILE *out);

/**
 * profile_difference_print - files and below each its symbols, until nearly all is explained
 * @difference: live
 * @out:        where to
 *
 * Four columns: counts of the base and of the other, what was added, and that in each operation if
 * both profiles say of how many they are. The last rows are what was left out, and the totals.
 */
void profile_difference_print(const struct profile_difference *difference, FILE *out);

#endif
