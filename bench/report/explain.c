/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/explain.h"

#include <string.h>

#include "report/explain_calls.h"
#include "report/explain_row.h"
#include "report/layout.h"
#include "report/profile_difference.h"
#include "report/text.h"

/* Columns: 31 + 1 + 21 + 3 * 9 are 80. */
#define NAME_COLUMNS   31
#define PATH_COLUMNS   21
#define NUMBER_COLUMNS 9

void explain_head(FILE *out, const char *name, const char *base, const char *other,
		  const char *added)
{
	fputc('\n', out);
	layout_left(out, name, NAME_COLUMNS + 1 + PATH_COLUMNS);
	layout_right(out, base, NUMBER_COLUMNS);
	layout_right(out, other, NUMBER_COLUMNS);
	layout_right(out, added, NUMBER_COLUMNS);
	fputc('\n', out);
}

void explain_name(FILE *out, const char *indent, const char *name, const char *path)
{
	size_t nr_columns = *path ? NAME_COLUMNS : NAME_COLUMNS + 1 + PATH_COLUMNS;
	size_t nr_taken = strlen(indent) + text_columns(name);

	fprintf(out, "%s%s", indent, name);
	if (nr_taken > nr_columns) {
		fputc('\n', out);
		nr_taken = 0;
	}
	layout_left(out, "", nr_columns - nr_taken);
	if (!*path)
		return;
	fputc(' ', out);
	layout_left(out, path, PATH_COLUMNS);
	if (text_columns(path) > PATH_COLUMNS) {
		fputc('\n', out);
		layout_left(out, "", NAME_COLUMNS + 1 + PATH_COLUMNS);
	}
}

void explain_number(FILE *out, double value, int nr_decimals, bool is_signed)
{
	char text[LAYOUT_NUMBER_BYTES];

	layout_right(out, layout_number(value, nr_decimals, is_signed, text), NUMBER_COLUMNS);
}

/* What is divided by, to get from the counts of a profile to one operation. */
struct each {
	double base;
	double other;
};

static double added_of(const struct count_difference *count, const struct each *each)
{
	return (double)count->other / each->other - (double)count->base / each->base;
}

static void print_row(FILE *out, const char *name, const char *path,
		      const struct count_difference *count, const struct each *each)
{
	explain_name(out, "", name, path);
	explain_number(out, (double)count->base / each->base, 1, false);
	explain_number(out, (double)count->other / each->other, 1, false);
	explain_number(out, added_of(count, each), 1, true);
	fputc('\n', out);
}

static void print_rest(FILE *out, const struct profile_difference *difference,
		       const struct count_difference *rest, size_t nr_rest, const char *what,
		       const struct each *each)
{
	char more[64];

	snprintf(more, sizeof(more), "%zu more %s%s", nr_rest, what, nr_rest == 1 ? "" : "s");
	if (nr_rest)
		print_row(out, more, "", rest, each);
	if (difference->elsewhere.base || difference->elsewhere.other)
		print_row(out, "outside these files", "", &difference->elsewhere, each);
	print_row(out, "all", "", &difference->total, each);
}

static void print_files(FILE *out, const struct profile_difference *difference,
			const struct each *each)
{
	struct count_difference rest = { 0 };
	size_t nr_rest = 0;

	explain_head(out, "by file", "base", "count", "added");
	for (size_t i = 0; i < difference->nr_files; i++) {
		const struct file_difference *file = &difference->files[i];

		if (file->explains) {
			print_row(out, file->path, "", &file->count, each);
			continue;
		}
		difference_add(&rest, &file->count);
		nr_rest++;
	}
	print_rest(out, difference, &rest, nr_rest, "file", each);
}

static void print_symbols(FILE *out, const struct profile_difference *difference,
			  const struct each *each)
{
	explain_head(out, "by symbol", "base", "count", "added");
	for (size_t i = 0; i < difference->nr_explaining; i++) {
		const struct symbol_difference *symbol = difference->sorted[i];

		print_row(out, symbol->name, symbol->path, &symbol->count, each);
	}
	print_rest(out, difference, &difference->rest,
		   difference->nr_symbols - difference->nr_explaining, "symbol", each);
}

static double operations_of(const struct bench_profile *profile, uint64_t nr_operations)
{
	if (!nr_operations)
		nr_operations = profile->operations;
	return nr_operations ? (double)nr_operations : 1;
}

/*
 * What is priced of the library is user space: files have all of that, and what the kernel did
 * meanwhile is in the totals alone.
 */
static void leave_kernel_out(struct profile_difference *difference)
{
	difference->total.base -= difference->elsewhere.base;
	difference->total.other -= difference->elsewhere.other;
	difference->total.added -= difference->elsewhere.added;
	difference->elsewhere = (struct count_difference){ 0 };
}

int profile_explain_print(FILE *out, const struct bench_profile *base,
			  const struct bench_profile *other, uint64_t nr_operations,
			  const char *operation, struct report_error *error)
{
	const struct each each = { operations_of(base, nr_operations),
				   operations_of(other, nr_operations) };
	struct profile_difference *difference;
	char text[LAYOUT_NUMBER_BYTES];
	bool is_lib = strcmp(other->target, "lib") == 0;
	int ret;

	ret = profile_difference_create(base, other, &difference, error);
	if (ret)
		return ret;
	if (is_lib)
		leave_kernel_out(difference);
	profile_difference_title(difference, "", "", out);
	fprintf(out, "%s in each %s, mean of %.0f%s\n",
		layout_number(added_of(&difference->total, &each), 1, true, text), operation,
		each.other, is_lib ? "; user space alone" : "");
	print_files(out, difference, &each);
	print_symbols(out, difference, &each);
	ret = explain_calls_print(out, difference, each.base, each.other);
	profile_difference_destroy(difference);
	return ret;
}
