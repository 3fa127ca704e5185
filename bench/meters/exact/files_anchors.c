/* SPDX-License-Identifier: MIT */
/*
 * Ranges of the kernel's text that hold one source file. A compiler is free in the order of a
 * file's functions, so both ends of a range hold for some kernels only, and were compared with the
 * debug information of a few. On another kernel a row is used if its checks say that it fits. What
 * the compiler put elsewhere (".cold", ".init.text") is in no range; files_path() finds the former.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "meters/exact/files_ranges.h"
#include "meters/exact/files_rows.h"

/* A row's symbols, from first to before end. */
struct span {
	size_t first;
	size_t end;
};

static bool is_padding(const struct kernel_symbol *symbol)
{
	return strncmp(symbol->name, "__pfx_", strlen("__pfx_")) == 0;
}

/* Finds a name that is there once. */
static bool find_symbol(const struct kernel *kernel, const char *name, size_t *ret_index)
{
	size_t nr_found = 0;

	for (size_t i = 0; i < kernel->nr_symbols; i++) {
		if (strcmp(kernel->symbols[i].name, name))
			continue;
		*ret_index = i;
		nr_found++;
	}
	return nr_found == 1;
}

/* Finds the last of these, split-off parts left out: they lie far behind the file. */
static bool find_last(const struct kernel *kernel, const char *start, size_t *ret_index)
{
	size_t nr_found = 0;

	for (size_t i = 0; i < kernel->nr_symbols; i++) {
		const char *name = kernel->symbols[i].name;

		if (strncmp(name, start, strlen(start)) || strchr(name, '.'))
			continue;
		*ret_index = i;
		nr_found++;
	}
	return nr_found > 0;
}

/* The index of the first symbol at or behind an anchor; padding belongs to what follows it. */
static bool find_anchor(const struct kernel *kernel, const struct file_anchor *anchor,
			size_t *ret_index)
{
	size_t i;

	if (anchor->place == FILE_ANCHOR_BEHIND) {
		if (!find_last(kernel, anchor->name, &i))
			return false;
		*ret_index = i + 1;
		return i + 1 < kernel->nr_symbols;
	}
	if (!find_symbol(kernel, anchor->name, &i))
		return false;
	*ret_index = i > 0 && is_padding(&kernel->symbols[i - 1]) ? i - 1 : i;
	return true;
}

static size_t count_functions(const struct kernel *kernel, struct span span)
{
	size_t nr_functions = 0;

	for (size_t i = span.first; i < span.end; i++)
		nr_functions += !is_padding(&kernel->symbols[i]);
	return nr_functions;
}

/* Each of these leaves a line if the range is not that of the row's file. */

static bool check_inside(const struct kernel *kernel, const struct file_row *row, struct span span,
			 char *line)
{
	size_t index = 0;

	for (size_t i = 0; i < FILE_ROW_NR_CHECKED && row->inside[i]; i++) {
		if (find_symbol(kernel, row->inside[i], &index) && index >= span.first &&
		    index < span.end)
			continue;
		snprintf(line, FILES_ERROR, "%s would lack %s", row->path, row->inside[i]);
		return false;
	}
	return true;
}

static bool check_outside(const struct kernel *kernel, const struct file_row *row, struct span span,
			  char *line)
{
	for (size_t i = span.first; i < span.end; i++) {
		for (size_t j = 0; j < FILE_ROW_NR_CHECKED && row->outside[j]; j++) {
			if (strcmp(kernel->symbols[i].name, row->outside[j]))
				continue;
			snprintf(line, FILES_ERROR, "%s would hold %s", row->path, row->outside[j]);
			return false;
		}
	}
	return true;
}

static bool check_row(const struct kernel *kernel, const struct file_row *row, struct span span,
		      char *line)
{
	size_t nr_functions = span.first < span.end ? count_functions(kernel, span) : 0;

	if (nr_functions < row->min || nr_functions > row->max) {
		snprintf(line, FILES_ERROR, "%s would have %zu functions, not %zu to %zu",
			 row->path, nr_functions, row->min, row->max);
		return false;
	}
	return check_inside(kernel, row, span, line) && check_outside(kernel, row, span, line);
}

/* Appends a complaint, as far as there is room. */
static void complain(char *why_not, const char *line)
{
	size_t nr_bytes = strlen(why_not);

	snprintf(why_not + nr_bytes, FILES_ERROR - nr_bytes, "; %s", line);
}

static int add_row(struct files *files, const struct kernel *kernel, const struct file_row *row,
		   struct span span)
{
	uint64_t start = kernel->symbols[span.first].address;
	uint64_t end = kernel->symbols[span.end].address;
	char *path;
	int ret;

	ret = files_add_path(files, row->path, &path);
	return ret ? ret : files_add_range(files, start, end, path);
}

/* The line that is left when all went well: most of a kernel's files have no row. */
static void say_what_is_told(const struct kernel *kernel, int nr_found, char *why_not)
{
	char complaints[FILES_ERROR];
	bool compared = false;

	for (size_t i = 0; i < nr_file_rows_compared; i++)
		compared |= strcmp(kernel->release, file_rows_compared[i]) == 0;
	strcpy(complaints, why_not);
	snprintf(why_not, FILES_ERROR,
		 "no debug information of the kernel %.100s: %d of its files are "
		 "told apart%s%.300s",
		 kernel->release, nr_found,
		 compared ? "" : ", by bounds that were found in other kernels", complaints);
}

/* Adds the first of the rows of one file that passes; else complains as the last of them does. */
static int add_file(struct files *files, const struct kernel *kernel, const struct file_row *row,
		    size_t nr_rows, char *why_not)
{
	char line[FILES_ERROR] = "";
	bool has_anchors = false;

	for (size_t i = 0; i < nr_rows; i++) {
		struct span span;
		int ret;

		if (!find_anchor(kernel, &row[i].start, &span.first) ||
		    !find_anchor(kernel, &row[i].end, &span.end))
			continue;
		has_anchors = true;
		if (!check_row(kernel, &row[i], span, line))
			continue;
		ret = add_row(files, kernel, &row[i], span);
		return ret ? ret : 1;
	}
	if (!has_anchors)
		snprintf(line, sizeof(line), "%s lacks a bound", row->path);
	complain(why_not, line);
	return 0;
}

int files_add_anchored(struct files *files, const struct kernel *kernel, char *why_not)
{
	int nr_found = 0, ret;

	*why_not = '\0';
	for (size_t i = 0, end; i < nr_file_rows; i = end) {
		for (end = i + 1;
		     end < nr_file_rows && !strcmp(file_rows[end].path, file_rows[i].path);)
			end++;
		if (file_rows[i].memcg && !kernel->has_memcg)
			continue;
		ret = add_file(files, kernel, &file_rows[i], end - i, why_not);
		if (ret < 0)
			return ret;
		nr_found += ret;
	}
	say_what_is_told(kernel, nr_found, why_not);
	return nr_found;
}
