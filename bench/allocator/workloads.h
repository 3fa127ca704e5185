/* SPDX-License-Identifier: MIT */
/*
 * The allocator workloads in the order in which they are listed: name, what it does, threads and
 * rounds unless told otherwise. A new one needs a file with its name##_run() and a line here.
 */
#ifndef ALLOCATOR_WORKLOADS_H
#define ALLOCATOR_WORKLOADS_H

#include "workload.h"

#define ALLOCATOR_WORKLOADS(_)                                                                     \
	_(cfrac, "big-number loop of small short-lived objects", 1, 240000)                        \
	_(espresso, "a parser's tokens, strings and growing lists of many sizes", 1, 320)          \
	_(barnes, "an octree of bodies built up and torn down at each time step", 1, 40)           \
	_(rbstress, "a balanced tree that grows, is churned, and is torn down", 1, 20)             \
	_(larson, "server threads that inherit their predecessors' objects", 2, 120)               \
	_(xmalloc, "one thread allocates batches, another frees them", 2, 10000)                   \
	_(mstress, "threads that exchange objects through a shared table", 2, 200)                 \
	_(realloc, "vectors that grow by appending, up to large ones", 1, 10)                      \
	_(large, "a live set of blocks of 5 to 25 MiB", 1, 70)                                     \
	_(churn, "short threads that each allocate a little", 2, 3000)                             \
	_(simple, "bursts of one size, freed in three orders", 1, 1600)                            \
	_(threads, "random replacement, sizes skewed to small, in each thread alone", 2, 2500)

#define DECLARE(name, description, nr_threads, nr_rounds)                                          \
	uint64_t name##_run(const struct parameters *parameters);
ALLOCATOR_WORKLOADS(DECLARE)
#undef DECLARE

#endif
