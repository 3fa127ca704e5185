/* SPDX-License-Identifier: MIT */
/* What was called from where, how often, and how many instructions that took. */
#ifndef EXACT_PLUGIN_CALL_TABLE_H
#define EXACT_PLUGIN_CALL_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct call_edge {
	uint32_t caller; /* numbers of symbols */
	uint32_t callee;
	uint64_t nr_calls;
	uint64_t nr_instructions;
};

struct call_table {
	struct call_edge *edges; /* a hash table; empty where the callee is 0, which is none */
	size_t nr_room;          /* a power of two, or 0 */
	size_t nr_edges;
};

/** call_table_add - to the edge of that caller and callee; it comes to be if it is not there */
void call_table_add(struct call_table *table, const struct call_edge *edge);

#endif
