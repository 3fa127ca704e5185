/* SPDX-License-Identifier: MIT */
/*
 * The order of blocks. A round has one block of every job. Jobs that are compared with one another
 * form a suite; the suites of a round come in random order, and so do the jobs of a suite, close
 * together, so that whatever drifts while the machine runs falls on all of them alike.
 */
#ifndef BENCH_SCHEDULE_H
#define BENCH_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

/**
 * schedule_round - the order of one round
 * @seed:      the same seed gives the same orders
 * @round:     from 0
 * @sizes:     how many jobs each suite has; jobs are numbered through, suite after suite
 * @nr_suites: how many suites
 * @ret_order: gets the numbers of the jobs, as many as all sizes together
 */
void schedule_round(uint64_t seed, unsigned int round, const size_t *sizes, size_t nr_suites,
		    size_t *ret_order);

/**
 * schedule_workers - numbers of workers after mmtests' large stride
 * @nr_max:      the greatest number, which is always the last
 * @ret_workers: room for @size of them
 *
 * Up to 8 every other one, up to 32 every sixth from 12, beyond that ever more sparsely.
 *
 * Return: how many there are.
 */
size_t schedule_workers(unsigned int nr_max, unsigned int *ret_workers, size_t size);

#endif
