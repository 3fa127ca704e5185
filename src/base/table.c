/* SPDX-License-Identifier: MIT */
#include "base/table.h"

#include <errno.h>
#include <string.h>

#include "base/address_space.h"
#include "base/compiler.h"
#include "base/system.h"

#define COMMIT_BYTES ((size_t)256 << 10)

/* There are about ten tables: together they take no more than a tenth of a limited process. */
#define TABLE_SHARE 100

static int commit(struct table *table)
{
	size_t old_end = (size_t)table->nr_committed * table->row_size;
	size_t limit = (size_t)table->nr_max * table->row_size;
	size_t new_end = min(old_end + COMMIT_BYTES, limit);
	/* On a page, whatever its size; what the last step opened already is opened again. */
	size_t start = old_end & ~(COMMIT_BYTES - 1);

	if (new_end <= old_end)
		return -ENOMEM;
	if (system_mprotect(table->rows + start, new_end - start, PROT_READ | PROT_WRITE))
		return -ENOMEM;
	table->nr_committed = new_end / table->row_size;
	return 0;
}

int table_init(struct table *table, size_t row_size, uint32_t nr_max, void *first)
{
	size_t share = address_space_share(TABLE_SHARE);

	for (; nr_max >= 64; nr_max /= 2) {
		void *rows;

		if (row_size * nr_max > share)
			continue;
		rows = system_mmap(NULL, row_size * nr_max, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (rows == MAP_FAILED)
			continue;
		*table = (struct table){
			.rows = rows,
			.first = first ? first : rows,
			.row_size = row_size,
			.nr_max = nr_max,
			.nr_committed = first ? TABLE_NR_FIRST : 0,
			.nr_used = 1,
		};
		return 0;
	}
	return -ENOMEM;
}

uint32_t table_get(struct table *table)
{
	uint32_t row = table->first_free;

	if (row) {
		memcpy(&table->first_free, table_row(table, row), sizeof(row));
		return row;
	}
	/* relaxed: the caller serialises those that write it. */
	row = atomic_load_explicit(&table->nr_used, memory_order_relaxed);
	if (row >= table->nr_committed && commit(table))
		return 0;
	atomic_store_explicit(&table->nr_used, row + 1, memory_order_relaxed);
	return row;
}

void table_put(struct table *table, uint32_t row)
{
	memcpy(table_row(table, row), &table->first_free, sizeof(row));
	table->first_free = row;
}

void table_forget(struct table *table)
{
	/* relaxed: the caller is alone. */
	uint32_t nr_used = atomic_load_explicit(&table->nr_used, memory_order_relaxed);

	for (uint32_t row = 1; row < nr_used; row++)
		memset(table_row(table, row), 0, table->row_size);
	atomic_store_explicit(&table->nr_used, 1, memory_order_relaxed);
	table->first_free = 0;
}
