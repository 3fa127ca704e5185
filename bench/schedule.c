/* SPDX-License-Identifier: MIT */
/* The order of blocks, and the numbers of workers. */
#include "schedule.h"

/* splitmix64: its neighbouring seeds have nothing to do with one another. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Fisher and Yates; the bias of the remainder is below 2^-50 for the numbers of jobs there are. */
static void shuffle(size_t *items, size_t nr_items, uint64_t *state)
{
	for (size_t i = nr_items; i > 1; i--) {
		size_t other = random_next(state) % i, item = items[i - 1];

		items[i - 1] = items[other];
		items[other] = item;
	}
}

void schedule_round(uint64_t seed, unsigned int round, const size_t *sizes, size_t nr_suites,
		    size_t *ret_order)
{
	uint64_t state = seed ^ ((uint64_t)round << 32);
	size_t suites[nr_suites + 1], firsts[nr_suites + 1], next = 0;

	random_next(&state);
	for (size_t i = 0; i < nr_suites; i++) {
		suites[i] = i;
		firsts[i] = next;
		next += sizes[i];
	}
	shuffle(suites, nr_suites, &state);
	next = 0;
	for (size_t i = 0; i < nr_suites; i++) {
		size_t suite = suites[i];

		for (size_t job = 0; job < sizes[suite]; job++)
			ret_order[next + job] = firsts[suite] + job;
		shuffle(ret_order + next, sizes[suite], &state);
		next += sizes[suite];
	}
}

struct stride {
	unsigned int first;
	unsigned int step;
	unsigned int last;
};

size_t schedule_workers(unsigned int nr_max, unsigned int *ret_workers, size_t size)
{
	const struct stride few[] = { { 1, 2, 8 }, { 12, 6, 32 } };
	const struct stride many[] = { { 1, 3, 8 }, { 12, 9, 32 }, { 48, 31, nr_max } };
	const struct stride *strides = nr_max > 32 ? many : few;
	size_t nr_strides = nr_max > 32 ? 3 : 2, nr_workers = 0;

	for (size_t i = 0; i < nr_strides; i++) {
		for (unsigned int n = strides[i].first; n <= strides[i].last && n <= nr_max;
		     n += strides[i].step) {
			if (nr_workers < size)
				ret_workers[nr_workers++] = n;
		}
	}
	if (nr_workers < size && nr_workers > 0 && ret_workers[nr_workers - 1] != nr_max)
		ret_workers[nr_workers++] = nr_max;
	return nr_workers;
}
