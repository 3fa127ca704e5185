/* SPDX-License-Identifier: MIT */
/*
 * An index finds the rows of a table by a 64-bit key that each row holds.
 *
 * Chains of row numbers, hung into a power of two of buckets that doubles as rows are added. Rows
 * may share a key, as a hash does for a longer one. The caller serialises.
 */
#ifndef UMEMCG_BASE_INDEX_H
#define UMEMCG_BASE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

struct index {
	const struct table *table;
	size_t key_offset;  /* of the row's uint64_t key */
	size_t link_offset; /* of the row's uint32_t link, the index's own */
	uint32_t *buckets;  /* first row of each chain, 0 for none */
	uint32_t nr_buckets;
	uint32_t nr_rows;
};

/** index_init - make an empty index over a table's rows; 0 or -ENOMEM */
int index_init(struct index *index, const struct table *table, size_t key_offset,
	       size_t link_offset);

/** index_add - add a row; its key must not change while it is in the index */
void index_add(struct index *index, uint32_t row);

/** index_remove - remove a row that is in the index */
void index_remove(struct index *index, uint32_t row);

/** index_find - a row with this key, or 0 if there is none */
uint32_t index_find(const struct index *index, uint64_t key);

/** index_next - after index_find(): another row with the key of @row, or 0 after the last one */
uint32_t index_next(const struct index *index, uint32_t row);

#endif
