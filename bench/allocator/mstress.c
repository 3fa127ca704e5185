/* SPDX-License-Identifier: MIT */
/*
 * Threads that exchange objects through a shared table: each allocates arrays of mostly small
 * sizes, keeps some for its whole life, frees some at once, and swaps the rest into random slots
 * of the table, getting another thread's object back. Threads end after each round and new ones
 * begin. Checked by a pattern over the whole of each object. A round is one generation of threads.
 */
#include <stdatomic.h>

#include "alloc.h"
#include "workloads.h"

enum { NR_SLOTS = 1000, NR_ALLOCATIONS = 12000, NR_KEPT_MAX = 2000 };

struct object {
	uint64_t nr_words;
	uint64_t words[];
};

static struct object *object_new(uint64_t *seed)
{
	uint64_t nr_words = 1 + random_below(seed, 16);
	struct object *object;

	if (random_below(seed, 100) == 0)
		nr_words *= 32;
	if (random_below(seed, 5000) == 0)
		nr_words *= 1024;
	object = must_malloc(sizeof(*object) + nr_words * sizeof(uint64_t));
	object->nr_words = nr_words;
	for (uint64_t i = 0; i < nr_words; i++)
		object->words[i] = nr_words ^ i;
	return object;
}

static void object_free(struct object *object)
{
	uint64_t wrong = 0;

	if (!object)
		return;
	for (uint64_t i = 0; i < object->nr_words; i++)
		wrong |= object->words[i] ^ object->nr_words ^ i;
	workload_expect(!wrong, "object of mstress");
	alloc_free(object);
}

static uint64_t exchange(struct worker *worker)
{
	struct object *_Atomic *table = worker->shared;
	struct object **kept = must_malloc(NR_KEPT_MAX * sizeof(*kept));
	uint32_t nr_kept = 0;

	for (uint32_t i = 0; i < NR_ALLOCATIONS; i++) {
		struct object *object = object_new(&worker->seed);
		uint32_t choice = random_below(&worker->seed, 8);

		if (choice == 0 && nr_kept < NR_KEPT_MAX) {
			kept[nr_kept++] = object;
		} else if (choice < 4) {
			object_free(object);
		} else {
			/*
			 * Acquire and release: the contents written before another thread's
			 * exchange are seen after ours.
			 */
			object = atomic_exchange_explicit(
				&table[random_below(&worker->seed, NR_SLOTS)], object,
				memory_order_acq_rel);
			object_free(object);
		}
	}
	while (nr_kept > 0)
		object_free(kept[--nr_kept]);
	alloc_free(kept);
	return NR_ALLOCATIONS + 1;
}

uint64_t mstress_run(const struct parameters *parameters)
{
	struct object *_Atomic *table = alloc_calloc(NR_SLOTS, sizeof(*table));
	uint64_t nr_operations = 1;

	workload_expect(table, "an allocation failed");
	for (uint64_t i = 0; i < parameters->nr_rounds; i++) {
		nr_operations += workers_run(parameters, i, exchange, table);
		/* Every few rounds all is freed at once, by the thread that freed nothing so far.
		 */
		for (uint32_t j = 0; i % 8 == 7 && j < NR_SLOTS; j++) {
			object_free(table[j]);
			table[j] = NULL;
		}
	}
	for (uint32_t j = 0; j < NR_SLOTS; j++)
		object_free(table[j]);
	alloc_free((void *)table);
	return nr_operations;
}
