/* SPDX-License-Identifier: MIT */
/*
 * Threads that live shortly: each allocates a few objects of several sizes, uses them, frees all
 * but one, and ends; the one that is left is freed by the thread that started it. Checked by a
 * stamp in every object. A round is one set of threads.
 */
#include "alloc.h"
#include "workloads.h"

enum { NR_OBJECTS = 64 };

static uint64_t live_shortly(struct worker *worker)
{
	uint64_t *objects[NR_OBJECTS];
	uint64_t **left = worker->shared;

	for (uint64_t i = 0; i < NR_OBJECTS; i++) {
		objects[i] = must_malloc(16 + random_below(&worker->seed, 496));
		*objects[i] = i;
	}
	for (uint64_t i = 1; i < NR_OBJECTS; i++) {
		workload_expect(*objects[i] == i, "object of churn");
		alloc_free(objects[i]);
	}
	left[worker->index] = objects[0];
	return NR_OBJECTS;
}

uint64_t churn_run(const struct parameters *parameters)
{
	uint64_t *left[WORKERS_MAX];
	uint64_t nr_operations = 0;

	for (uint64_t i = 0; i < parameters->nr_rounds; i++) {
		nr_operations += workers_run(parameters, i, live_shortly, left);
		for (unsigned int t = 0; t < parameters->nr_threads; t++) {
			workload_expect(*left[t] == 0, "object left by a thread of churn");
			alloc_free(left[t]);
		}
	}
	return nr_operations;
}
