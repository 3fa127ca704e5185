/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contexts.h"
#include "counters.h"
#include "failure.h"
#include "output.h"
#include "parts.h"
#include "symbols.h"
#include "tasks.h"

static FILE *file;
static const char *file_path;

bool output_open(const char *path)
{
	file_path = strdup(path);
	file = file_path ? fopen(path, "we") : NULL;
	if (!file)
		complain("out=%s: %s", path, strerror(errno));
	return file != NULL;
}

static void write_symbols(unsigned int id)
{
	static const char *const names[] = {
		[COUNT_TASK] = "task",
		[COUNT_INTERRUPT] = "interrupt",
		[COUNT_DEFERRED] = "deferred",
		[COUNT_IDLE] = "idle",
	};

	for (uint32_t symbol = 0; symbol < symbols_nr(); symbol++) {
		for (unsigned int context = 0; context < COUNT_NR_CONTEXTS; context++) {
			uint64_t nr = counters_sum_instructions(symbol, context);

			if (!nr)
				continue;
			fprintf(file, "symbol %u %s %" PRIx64 " %" PRIu64 " %" PRIu64 " %s\n", id,
				names[context], symbol_at(symbol)->address, nr,
				counters_sum_repetitions(symbol, context), symbol_at(symbol)->name);
		}
	}
}

static void write_iterations(unsigned int id, const struct part *part)
{
	for (size_t i = 0; i < part->nr_iterations; i++) {
		const struct count_iteration *iteration = &part->iterations[i];

		fprintf(file, "iteration %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", id,
			iteration->nr_kernel, iteration->nr_user, iteration->nr_interrupts);
	}
}

static int compare_edges(const void *first, const void *second)
{
	const struct call_edge *a = first, *b = second;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return (a->callee > b->callee) - (a->callee < b->callee);
}

static void write_calls(unsigned int id, const struct call_table *table)
{
	struct call_edge *edges = allocate(table->nr_edges, sizeof(*edges));
	size_t nr_edges = 0;

	/* The hash table's order depends on its history, the file's must not. */
	for (size_t i = 0; i < table->nr_room; i++) {
		if (table->edges[i].callee)
			edges[nr_edges++] = table->edges[i];
	}
	qsort(edges, nr_edges, sizeof(*edges), compare_edges);
	for (size_t i = 0; i < nr_edges; i++) {
		fprintf(file, "call %u %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", id,
			symbol_at(edges[i].caller)->address, symbol_at(edges[i].callee)->address,
			edges[i].nr_calls, edges[i].nr_instructions);
	}
	free(edges);
}

static void write_part(unsigned int id, const struct part *part)
{
	fprintf(file, "part %u %" PRIu64 " %" PRIu64 "\n", id, part->nr_entered,
		part->nr_interrupts);
	counters_open();
	counters_restore(part->sums, part->nr_sums);
	write_symbols(id);
	write_iterations(id, part);
	write_calls(id, &part->calls);
}

/* The last line goes out alone: no part of it is there unless all before it is. */
static bool write_all(void)
{
	fputs(COUNTS_FIRST_LINE "\n", file);
	for (unsigned int id = 1; id <= PARTS_ID_MAX; id++) {
		if (parts_at(id))
			write_part(id, parts_at(id));
	}
	if (fflush(file) || ferror(file))
		return false;
	if (parts_open())
		return true;
	fputs("end\n", file);
	return !fflush(file);
}

void output_write(void)
{
	int error;

	if (parts_open())
		complain("the guest ended inside of a part: the counts have no last line");
	if (contexts_nr_unpaired() || tasks_nr_lost())
		complain("%" PRIu64 " interrupts or softirqs without beginning or end, %" PRIu64
			 " switches between unknown tasks: contexts are not exact",
			 contexts_nr_unpaired(), tasks_nr_lost());
	/* In case that a failure leaves none. */
	errno = EIO;
	error = write_all() ? 0 : errno;
	if (fclose(file) && !error)
		error = errno;
	if (error)
		complain("out=%s: %s", file_path, strerror(error));
}
