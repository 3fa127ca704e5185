/* SPDX-License-Identifier: MIT */
/* The target `lib`: the worker puts itself into a group of libumemcg's before its block starts. */
#ifndef BENCH_TARGETS_LIB_LIB_H
#define BENCH_TARGETS_LIB_LIB_H

#include <stdint.h>

#include "workloads/workload.h"

/**
 * lib_enter - make groups down to @depth and enter the last one
 * @context: gets the group, and how a thread of the worker enters it
 * @depth:   0 for the root, that is none
 * @max:     limit of the last group in bytes, 0 for none; at depth 0 of one that is only made
 *
 * Return: 0 or a negative errno.
 */
int lib_enter(struct workload_context *context, unsigned int depth, uint64_t max);

/** lib_peak - the most that was ever charged to the group that was entered, 0 without one */
uint64_t lib_peak(const struct workload_context *context);

#endif
