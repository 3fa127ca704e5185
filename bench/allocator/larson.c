/* SPDX-License-Identifier: MIT */
/*
 * A server: each thread replaces random objects of its table for a while, then hands the table to
 * a successor and ends, so that objects are freed by threads that did not allocate them, long
 * after their own has gone. Tables also change hands between the threads. Checked by a stamp in
 * every object. A round is one generation of threads.
 */
#include "alloc.h"
#include "workloads.h"

enum { NR_SLOTS = 5000, NR_REPLACED = 100000, BYTES_MIN = 8, BYTES_MAX = 1000 };

struct tables {
	uint64_t **slots[WORKERS_MAX];
	uint64_t generation;
};

static uint64_t *object_new(uint64_t *seed, const uint64_t *stamp)
{
	uint64_t *object = must_malloc(BYTES_MIN + random_below(seed, BYTES_MAX - BYTES_MIN));

	*object = (uint64_t)(uintptr_t)stamp;
	return object;
}

static uint64_t serve(struct worker *worker)
{
	struct tables *tables = worker->shared;
	uint64_t owner = (worker->index + tables->generation) % worker->parameters->nr_threads;
	uint64_t **slots = tables->slots[owner];

	for (uint32_t i = 0; i < NR_REPLACED; i++) {
		uint64_t **slot = &slots[random_below(&worker->seed, NR_SLOTS)];

		workload_expect(**slot == (uint64_t)(uintptr_t)slot, "object of larson");
		alloc_free(*slot);
		*slot = object_new(&worker->seed, (uint64_t *)slot);
	}
	return NR_REPLACED;
}

uint64_t larson_run(const struct parameters *parameters)
{
	uint64_t seed = parameters->seed, nr_operations = 0;
	struct tables tables = { .generation = 0 };

	for (unsigned int t = 0; t < parameters->nr_threads; t++) {
		tables.slots[t] = must_malloc(NR_SLOTS * sizeof(uint64_t *));
		for (uint32_t i = 0; i < NR_SLOTS; i++)
			tables.slots[t][i] = object_new(&seed, (uint64_t *)&tables.slots[t][i]);
		nr_operations += NR_SLOTS + 1;
	}
	for (; tables.generation < parameters->nr_rounds; tables.generation++)
		nr_operations += workers_run(parameters, tables.generation, serve, &tables);
	for (unsigned int t = 0; t < parameters->nr_threads; t++) {
		for (uint32_t i = 0; i < NR_SLOTS; i++)
			alloc_free(tables.slots[t][i]);
		alloc_free(tables.slots[t]);
	}
	return nr_operations;
}
