/* SPDX-License-Identifier: MIT */
/*
 * A table on standard output that fits the terminal, or 80 columns: columns are as wide as they
 * must be, and those of text give way, the widest first.
 */
#ifndef UMEMCG_CMD_TABLE_H
#define UMEMCG_CMD_TABLE_H

#include <stddef.h>

#define TABLE_NR_COLUMNS 16

struct table {
	const char *names[TABLE_NR_COLUMNS]; /* a NULL ends them */
	unsigned int nr_text; /* columns in front that hold text; numbers, behind them, go right */
	char **cells;
	size_t nr_cells, nr_room;
};

/** table_add - the next cell, row by row; copied; 0 or -ENOMEM */
int table_add(struct table *table, const char *text);

/** table_print - print it, but for columns without any text */
void table_print(const struct table *table);

void table_fini(struct table *table);

#endif
