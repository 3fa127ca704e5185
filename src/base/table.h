/* SPDX-License-Identifier: MIT */
/*
 * A table whose rows are named by number, never move, and are zero at first.
 *
 * Address space for all rows is reserved once; memory is committed as the table grows. The first
 * few rows may lie in a variable instead: every fork pays for each place of the address space that
 * has memory, and most processes have few groups. Row 0 is never given out, so that 0 can mean
 * none.
 */
#ifndef UMEMCG_BASE_TABLE_H
#define UMEMCG_BASE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows that may lie in a variable, row 0 included. */
#define TABLE_NR_FIRST 8u

struct table {
	char *rows;
	char *first; /* where rows below TABLE_NR_FIRST are: a variable, or the same */
	size_t row_size;
	uint32_t nr_max;          /* rows reserved */
	uint32_t nr_committed;    /* rows that may be touched */
	_Atomic uint32_t nr_used; /* rows ever given out, row 0 included; others may look */
	uint32_t first_free;      /* rows given back, chained through their first four bytes */
};

/**
 * table_init - reserve a table; halves @nr_max until the reservation succeeds
 * @first: TABLE_NR_FIRST rows of zeros, or NULL: then row 0 cannot be read
 *
 * Return: 0 or -ENOMEM.
 */
int table_init(struct table *table, size_t row_size, uint32_t nr_max, void *first);

/**
 * table_get - take a row, the last one given back first; the caller serialises
 *
 * A row that was given back holds what it held then, but for its first four bytes.
 *
 * Return: its number; 0 if there is no memory or no row left.
 */
uint32_t table_get(struct table *table);

/** table_put - give a row back; the caller serialises */
void table_put(struct table *table, uint32_t row);

/** table_forget - no row is given out, and all are zero again; for who is alone */
void table_forget(struct table *table);

/** table_has - was this row ever given out? Unlocked: a row that is named was given out before */
static inline bool table_has(const struct table *table, size_t row)
{
	/* relaxed: whoever named the row to the caller has seen it given out. */
	return row && row < atomic_load_explicit(&table->nr_used, memory_order_relaxed);
}

static inline void *table_row(const struct table *table, uint32_t row)
{
	char *rows = row < TABLE_NR_FIRST ? table->first : table->rows;

	return rows + (size_t)row * table->row_size;
}

#endif
