/* SPDX-License-Identifier: MIT */
/* Allocation by the target: the library's heap, or the C library's for the kernel's sake. */
#ifndef BENCH_WORKLOADS_WORKLOAD_ALLOC_H
#define BENCH_WORKLOADS_WORKLOAD_ALLOC_H

#include <stdlib.h>

#include <umemcg.h>

#include "workloads/workload.h"

static inline void *workload_malloc(const struct workload_context *context, size_t nr_bytes)
{
	return context->target == WORKLOAD_LIB ? umemcg_malloc(nr_bytes) : malloc(nr_bytes);
}

static inline void workload_free(const struct workload_context *context, void *object)
{
	if (context->target == WORKLOAD_LIB)
		umemcg_free(object);
	else
		free(object);
}

#endif
