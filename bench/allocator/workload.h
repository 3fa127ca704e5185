/* SPDX-License-Identifier: MIT */
/*
 * What an allocator workload is, and the little that all of them share. Each re-creates a pattern
 * of use known from the field, does the same work for a given seed, and checks its own contents,
 * so that an allocator that is fast by losing data does not pass.
 */
#ifndef ALLOCATOR_WORKLOAD_H
#define ALLOCATOR_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parameters {
	unsigned int nr_threads;
	uint64_t nr_rounds; /* of what each workload says a round is */
	uint64_t seed;
};

struct workload {
	const char *name;
	const char *description;
	struct parameters defaults;
	uint64_t (*run)(const struct parameters *parameters); /* returns the allocations made */
};

/* Workers lie far apart: two of them in one line would slow each other down, now and then. */
#define WORKER_ALIGNED __attribute__((aligned(256)))

/* One of the threads that workers_run() starts. */
struct WORKER_ALIGNED worker {
	uint64_t (*body)(struct worker *worker); /* returns the allocations made */
	const struct parameters *parameters;
	void *shared;
	unsigned int index;
	uint64_t seed; /* of this worker's own sequence */
	uint64_t nr_operations;
	void *group; /* that the creator was in; a thread starts outside of it */
};

enum { WORKERS_MAX = 64 };

/* Starts parameters->nr_threads threads on @body and returns the sum of their allocations. */
uint64_t workers_run(const struct parameters *parameters, uint64_t generation,
		     uint64_t (*body)(struct worker *worker), void *shared);

/* Ends the program with one line on standard error unless @condition holds. */
void workload_expect(bool condition, const char *what);

/* As alloc_malloc() and its kin, but a failure ends the program. */
void *must_malloc(size_t nr_bytes);
void *must_realloc(void *object, size_t nr_bytes);

/* splitmix64: any state is good, so a seed needs no preparation. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t mixed = (*state += 0x9e3779b97f4a7c15u);

	mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
	mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
	return mixed ^ (mixed >> 31);
}

/* A number in [0, bound), bound below 2^32; the bias is far below what a workload could notice. */
static inline uint32_t random_below(uint64_t *state, uint32_t bound)
{
	return (uint32_t)(((random_next(state) >> 32) * bound) >> 32);
}

#endif
