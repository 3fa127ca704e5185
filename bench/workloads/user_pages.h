/* SPDX-License-Identifier: MIT */
/* "User pages": anonymous memory for the kernel, a charged region for the library. No huge pages.
 */
#ifndef BENCH_WORKLOADS_USER_PAGES_H
#define BENCH_WORKLOADS_USER_PAGES_H

#include <stddef.h>

#include "workloads/workload.h"

/** user_pages_map - nothing of it is touched; for `lib` it is charged to the thread's group */
int user_pages_map(struct workload_context *context, struct workload_worker *worker,
		   size_t nr_bytes, void **ret_address);

/**
 * user_pages_charged - pages of regions that the thread's group has now
 *
 * Return: 0 where pages are charged, or taken, one fault each: then those faults are what counts.
 */
uint64_t user_pages_charged(const struct workload_context *context);

int user_pages_unmap(struct workload_context *context, struct workload_worker *worker,
		     void *address, size_t nr_bytes);

#endif
