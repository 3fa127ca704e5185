/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "call_table.h"
#include "failure.h"

#define NR_ROOM_FIRST 256

static struct call_edge *find(const struct call_table *table, uint32_t caller, uint32_t callee)
{
	uint64_t key = (uint64_t)caller << 32 | callee;
	/* Fibonacci hashing: the high half of the product is well mixed. */
	size_t slot = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

	for (;; slot++) {
		struct call_edge *edge = &table->edges[slot & (table->nr_room - 1)];

		if (!edge->callee || (edge->caller == caller && edge->callee == callee))
			return edge;
	}
}

/* At most half full, so that a search ends soon. */
static void grow(struct call_table *table)
{
	struct call_table grown = {
		.nr_room = table->nr_room ? 2 * table->nr_room : NR_ROOM_FIRST,
		.nr_edges = table->nr_edges,
	};

	grown.edges = allocate(grown.nr_room, sizeof(*grown.edges));
	for (size_t i = 0; i < table->nr_room; i++) {
		const struct call_edge *edge = &table->edges[i];

		if (edge->callee)
			*find(&grown, edge->caller, edge->callee) = *edge;
	}
	free(table->edges);
	*table = grown;
}

void call_table_add(struct call_table *table, const struct call_edge *added)
{
	struct call_edge *edge;

	if (2 * (table->nr_edges + 1) > table->nr_room)
		grow(table);
	edge = find(table, added->caller, added->callee);
	if (!edge->callee) {
		edge->caller = added->caller;
		edge->callee = added->callee;
		table->nr_edges++;
	}
	edge->nr_calls += added->nr_calls;
	edge->nr_instructions += added->nr_instructions;
}
