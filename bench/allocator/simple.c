/* SPDX-License-Identifier: MIT */
/*
 * Bursts of one size, of the sizes that programs use most: some hundred objects are allocated and
 * freed in the order of allocation, in the reverse, and in pairs, one thread alone. Of every burst
 * one object stays until the size's turn comes again, as something always does. Checked by a stamp
 * in every object. A round is all sizes once, each in the three orders.
 */
#include "alloc.h"
#include "workloads.h"

enum { NR_OBJECTS = 400, LAST = NR_OBJECTS - 1 };

static const uint16_t sizes[] = { 16, 24, 40, 64, 100, 160, 256, 400, 640, 1024, 1600, 4096 };

enum { NR_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static void check_and_free(uint64_t *object, uint64_t stamp)
{
	workload_expect(*object == stamp, "object of simple");
	alloc_free(object);
}

static void burst(uint64_t **objects, size_t nr_bytes)
{
	for (uint64_t i = 0; i < NR_OBJECTS; i++) {
		objects[i] = must_malloc(nr_bytes);
		*objects[i] = i;
	}
}

/* @stay holds the objects that stayed the last time, if any, and gets those that do this time. */
static void run_size(size_t nr_bytes, uint64_t *stay[2])
{
	uint64_t *objects[NR_OBJECTS];

	for (unsigned int i = 0; i < 2; i++) {
		if (stay[i])
			check_and_free(stay[i], LAST);
	}
	burst(objects, nr_bytes);
	stay[0] = objects[LAST];
	for (uint64_t i = 0; i < LAST; i++)
		check_and_free(objects[i], i);
	burst(objects, nr_bytes);
	stay[1] = objects[LAST];
	for (uint64_t i = LAST; i-- > 0;)
		check_and_free(objects[i], i);
	for (uint64_t i = 0; i < NR_OBJECTS; i++) {
		objects[0] = must_malloc(nr_bytes);
		*objects[0] = i;
		check_and_free(objects[0], i);
	}
}

uint64_t simple_run(const struct parameters *parameters)
{
	uint64_t *stay[NR_SIZES][2] = { 0 };

	for (uint64_t i = 0; i < parameters->nr_rounds; i++) {
		for (size_t j = 0; j < NR_SIZES; j++)
			run_size(sizes[j], stay[j]);
	}
	for (size_t j = 0; j < NR_SIZES; j++) {
		alloc_free(stay[j][0]);
		alloc_free(stay[j][1]);
	}
	return parameters->nr_rounds * NR_SIZES * 3 * NR_OBJECTS;
}
