/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/layout.h"
#include "report/profile_difference.h"
#include "report/profile_table.h"
#include "report/surroundings.h"
#include "report/text.h"

/* Columns: 36 + 3 * 12 + 8 are 80. */
#define NAME_COLUMNS  36
#define COUNT_COLUMNS 12
#define EACH_COLUMNS  8

static bool has_operations(const struct profile_difference *difference)
{
	return difference->base->operations && difference->other->operations;
}

/* Names that leave no room for the numbers get a line of their own. */
static void print_name(const char *indent, const char *name, size_t nr_columns, FILE *out)
{
	size_t nr_taken = strlen(indent) + text_columns(name);

	fputs(indent, out);
	if (nr_taken > nr_columns) {
		fprintf(out, "%s\n", name);
		layout_left(out, "", nr_columns);
	} else {
		layout_left(out, name, nr_columns - strlen(indent));
	}
}

static void print_row(const struct profile_difference *difference, const char *indent,
		      const char *name, const struct count_difference *count, FILE *out)
{
	char text[LAYOUT_NUMBER_BYTES];
	double each;

	print_name(indent, name, NAME_COLUMNS + (has_operations(difference) ? 0 : EACH_COLUMNS),
		   out);
	fprintf(out, "%*" PRIu64 "%*" PRIu64 "%+*" PRId64, COUNT_COLUMNS, count->base,
		COUNT_COLUMNS, count->other, COUNT_COLUMNS, count->added);
	if (has_operations(difference)) {
		each = (double)count->other / (double)difference->other->operations -
		       (double)count->base / (double)difference->base->operations;
		layout_right(out, layout_number(each, 1, true, text), EACH_COLUMNS);
	}
	fputc('\n', out);
}

void profile_difference_title(const struct profile_difference *difference, const char *before,
			      const char *after, FILE *out)
{
	char *text = NULL;
	size_t nr_bytes;
	FILE *line = open_memstream(&text, &nr_bytes);

	if (!line)
		return;
	fprintf(line, "%s%s (%s): ", before, difference->other->workload,
		difference->other->target);
	profile_print_state(difference->other, line);
	fputs(" against ", line);
	profile_print_state(difference->base, line);
	fputs(after, line);
	if (!fclose(line))
		surroundings_wrap(out, text, 0);
	free(text);
}

void profile_difference_print(const struct profile_difference *difference, FILE *out)
{
	size_t nr_rest;
	char more[64];

	layout_left(out, "", NAME_COLUMNS + (has_operations(difference) ? 0 : EACH_COLUMNS));
	layout_right(out, "base", COUNT_COLUMNS);
	layout_right(out, "count", COUNT_COLUMNS);
	layout_right(out, "added", COUNT_COLUMNS);
	if (has_operations(difference))
		layout_right(out, "each", EACH_COLUMNS);
	fputc('\n', out);
	for (size_t i = 0; i < difference->nr_files; i++) {
		const struct file_difference *file = &difference->files[i];

		if (!file->has_explaining)
			continue;
		print_row(difference, "", file->path, &file->count, out);
		for (size_t j = 0; j < file->nr_symbols; j++) {
			if (file->symbols[j].explains)
				print_row(difference, "  ", file->symbols[j].name,
					  &file->symbols[j].count, out);
		}
	}
	nr_rest = difference->nr_symbols - difference->nr_explaining;
	snprintf(more, sizeof(more), "%zu more symbol%s", nr_rest, nr_rest == 1 ? "" : "s");
	if (nr_rest)
		print_row(difference, "", more, &difference->rest, out);
	if (difference->elsewhere.base || difference->elsewhere.other)
		print_row(difference, "", "outside these files", &difference->elsewhere, out);
	print_row(difference, "", "all", &difference->total, out);
}
