/* SPDX-License-Identifier: MIT */
/*
 * Vectors that grow by appending: each in turn is appended to, and grows by one half when it is
 * full, from a few bytes up to a limit of its own, a few of them to some MiB; then it is cut to
 * its length, checked, freed, and begun anew. Checked by the sum of what was appended. A round is
 * so many appends that every vector has lived about once.
 */
#include "alloc.h"
#include "workloads.h"

enum { NR_VECTORS = 48, NR_APPENDS = 60000, APPEND_WORDS = 64 };

struct vector {
	uint64_t *words;
	uint64_t sum;
	uint32_t nr_words, nr_allocated, nr_words_limit;
};

static uint64_t nr_operations;

static void vector_end(struct vector *vector)
{
	uint64_t sum = 0;

	if (!vector->words)
		return;
	vector->words = must_realloc(vector->words, vector->nr_words * sizeof(uint64_t));
	nr_operations++;
	for (uint32_t i = 0; i < vector->nr_words; i++)
		sum += vector->words[i];
	workload_expect(sum == vector->sum, "sum of a vector of realloc");
	alloc_free(vector->words);
	*vector = (struct vector){ 0 };
}

/* Most vectors stay below 32 KiB, one in eight may reach 512 KiB, and one in 32 grows to 8 MiB. */
static void vector_begin(struct vector *vector, uint64_t *seed)
{
	uint32_t kind = random_below(seed, 32);

	vector->nr_words_limit = 16 + random_below(seed, 4096);
	if (kind < 4)
		vector->nr_words_limit *= 16;
	if (kind == 4)
		vector->nr_words_limit = 1u << 20;
}

static void vector_append(struct vector *vector, uint64_t *seed)
{
	uint32_t nr_words = 1 + random_below(seed, APPEND_WORDS);

	if (vector->nr_words_limit == 0)
		vector_begin(vector, seed);
	if (vector->nr_words_limit >= 1u << 16)
		nr_words *= 32;
	while (vector->nr_words + nr_words > vector->nr_allocated) {
		vector->nr_allocated += vector->nr_allocated / 2 + 4;
		vector->words =
			must_realloc(vector->words, vector->nr_allocated * sizeof(uint64_t));
		nr_operations++;
	}
	for (uint32_t i = 0; i < nr_words; i++) {
		vector->words[vector->nr_words++] = i ^ nr_words;
		vector->sum += i ^ nr_words;
	}
	if (vector->nr_words >= vector->nr_words_limit)
		vector_end(vector);
}

uint64_t realloc_run(const struct parameters *parameters)
{
	struct vector vectors[NR_VECTORS] = { 0 };
	uint64_t seed = parameters->seed;

	nr_operations = 0;
	for (uint64_t i = 0; i < parameters->nr_rounds * NR_APPENDS; i++)
		vector_append(&vectors[random_below(&seed, NR_VECTORS)], &seed);
	for (unsigned int i = 0; i < NR_VECTORS; i++)
		vector_end(&vectors[i]);
	return nr_operations;
}
