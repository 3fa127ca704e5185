/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "table.h"

#define WIDTH_DEFAULT 80
#define WIDTH_CUT_MIN 8
#define GAP           2

int table_add(struct table *table, const char *text)
{
	if (table->nr_cells == table->nr_room) {
		size_t nr_room = table->nr_room ? 2 * table->nr_room : 64;
		char **cells = reallocarray(table->cells, nr_room, sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		table->cells = cells;
		table->nr_room = nr_room;
	}
	table->cells[table->nr_cells] = strdup(text);
	if (!table->cells[table->nr_cells])
		return -ENOMEM;
	table->nr_cells++;
	return 0;
}

void table_fini(struct table *table)
{
	for (size_t i = 0; i < table->nr_cells; i++)
		free(table->cells[i]);
	free(table->cells);
}

/*
 * One character of @text: its columns, at least 0; its bytes in *@ret_nr_bytes, 0 at the end. What
 * the locale cannot show is one column, and shown as a question mark.
 */
static int character(const char *text, size_t *ret_nr_bytes, bool *ret_is_shown)
{
	mbstate_t state = { 0 };
	wchar_t wide;
	size_t nr_bytes = mbrtowc(&wide, text, strlen(text), &state);

	*ret_is_shown = true;
	*ret_nr_bytes = *text ? nr_bytes : 0;
	if (!*text)
		return 0;
	if (nr_bytes > 0 && nr_bytes < (size_t)-2 && wcwidth(wide) >= 0)
		return wcwidth(wide);
	*ret_is_shown = false;
	*ret_nr_bytes = nr_bytes > 0 && nr_bytes < (size_t)-2 ? nr_bytes : 1;
	return 1;
}

static int columns_of(const char *text)
{
	size_t nr_bytes;
	bool is_shown;
	int columns = 0;

	for (;; text += nr_bytes) {
		columns += character(text, &nr_bytes, &is_shown);
		if (!nr_bytes)
			return columns;
	}
}

/* Print what fits in @width, with dots for a rest that does not; returns the columns printed. */
static int print_cut(const char *text, int width)
{
	bool is_cut = columns_of(text) > width;
	int room = is_cut ? width - 3 : width;
	int columns = 0;
	size_t nr_bytes;
	bool is_shown;

	for (;; text += nr_bytes) {
		int wide = character(text, &nr_bytes, &is_shown);

		if (!nr_bytes || columns + wide > room)
			break;
		if (is_shown)
			fwrite(text, 1, nr_bytes, stdout);
		else
			putchar('?');
		columns += wide;
	}
	if (is_cut) {
		fputs("...", stdout);
		columns += 3;
	}
	return columns;
}

static int terminal_width(void)
{
	struct winsize size;

	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) &&
	    size.ws_col > WIDTH_DEFAULT)
		return size.ws_col;
	return WIDTH_DEFAULT;
}

static unsigned int nr_columns_of(const struct table *table)
{
	unsigned int nr = 0;

	while (nr < TABLE_NR_COLUMNS && table->names[nr])
		nr++;
	return nr;
}

static int *widest_text(const struct table *table, int *widths)
{
	int *widest = widths;

	for (unsigned int column = 1; column < table->nr_text; column++)
		if (widths[column] > *widest)
			widest = &widths[column];
	return widest;
}

static void measure(const struct table *table, unsigned int nr_columns, int *widths)
{
	int sum = -GAP;
	int excess;

	for (unsigned int column = 0; column < nr_columns; column++) {
		widths[column] = 0;
		for (size_t i = column; i < table->nr_cells; i += nr_columns) {
			int width = columns_of(table->cells[i]);

			if (width > widths[column])
				widths[column] = width;
		}
		if (!widths[column])
			continue;
		if (widths[column] < columns_of(table->names[column]))
			widths[column] = columns_of(table->names[column]);
		sum += widths[column] + GAP;
	}
	excess = sum - terminal_width();
	while (excess-- > 0) {
		int *widest = widest_text(table, widths);

		if (*widest <= WIDTH_CUT_MIN)
			break;
		--*widest;
	}
}

static void print_row(const struct table *table, unsigned int nr_columns, const int *widths,
		      char *const *cells)
{
	int owed = 0; /* spaces before the next column: none stand at the end of a line */

	for (unsigned int column = 0; column < nr_columns; column++) {
		int width = widths[column];

		if (!width)
			continue;
		if (column < table->nr_text) {
			printf("%*s", owed, "");
			owed = width - print_cut(cells[column], width) + GAP;
		} else {
			printf("%*s%s", owed + width - columns_of(cells[column]), "",
			       cells[column]);
			owed = GAP;
		}
	}
	putchar('\n');
}

void table_print(const struct table *table)
{
	unsigned int nr_columns = nr_columns_of(table);
	int widths[TABLE_NR_COLUMNS] = { 0 };

	if (!table->nr_cells)
		return;
	measure(table, nr_columns, widths);
	print_row(table, nr_columns, widths, (char *const *)table->names);
	for (size_t i = 0; i + nr_columns <= table->nr_cells; i += nr_columns)
		print_row(table, nr_columns, widths, table->cells + i);
}
