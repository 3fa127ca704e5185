/* SPDX-License-Identifier: MIT */
/*
 * Random replacement in a table of each thread's own: sizes follow an inverse-square law from 8
 * bytes to 16 KiB, so that half of them are below 16 and few are large. Nothing is shared between
 * the threads but the allocator. Checked by a stamp in every object. A round is 10,000
 * replacements in each thread.
 */
#include "alloc.h"
#include "workloads.h"

enum { NR_SLOTS = 1600, NR_REPLACED = 10000, BYTES_MIN = 8, BYTES_MAX = 16384 };

/* Inverts the cumulative distribution of a density that falls with the square of the size. */
static uint32_t size_skewed(uint64_t *seed)
{
	const double low = 1.0 / BYTES_MIN, high = 1.0 / BYTES_MAX;
	double uniform = random_below(seed, 1u << 30) / 0x1p30;

	return (uint32_t)(1.0 / (low - uniform * (low - high)));
}

static uint64_t replace(struct worker *worker)
{
	uint64_t **slots = alloc_calloc(NR_SLOTS, sizeof(*slots));
	uint64_t nr_replaced = worker->parameters->nr_rounds * NR_REPLACED;

	workload_expect(slots, "an allocation failed");
	for (uint64_t i = 0; i < nr_replaced; i++) {
		uint32_t slot = random_below(&worker->seed, NR_SLOTS);

		if (slots[slot])
			workload_expect(*slots[slot] == slot, "object of threads");
		alloc_free(slots[slot]);
		slots[slot] = must_malloc(size_skewed(&worker->seed));
		*slots[slot] = slot;
	}
	for (uint32_t i = 0; i < NR_SLOTS; i++)
		alloc_free(slots[i]);
	alloc_free(slots);
	return nr_replaced + 1;
}

uint64_t threads_run(const struct parameters *parameters)
{
	return workers_run(parameters, 0, replace, NULL);
}
