/* SPDX-License-Identifier: MIT */
/*
 * Explicit charges, the bare price of the account: try_charge and uncharge of one group at some
 * depth. Where no group is in use the root is charged, whatever the depth.
 */
#include <errno.h>
#include <stdlib.h>

#include <umemcg.h>

#include "workloads/workload.h"

#define NR_BYTES 256

/* The configuration's own group is at depth 1 (or deeper); the rest of the chain goes below it. */
static int charge_setup(struct workload_context *context, struct workload_worker *worker)
{
	struct umemcg *group = umemcg_current();
	uint64_t depth = 0;

	for (struct umemcg *above = group; above && umemcg_parent(above); depth++)
		above = umemcg_parent(above);
	context->data = group;
	if (depth == 0)
		return 0;
	for (; depth < context->value; depth++) {
		int error = umemcg_create(group, NULL, &group);

		if (error) {
			worker->failed = "umemcg_create";
			return error;
		}
	}
	context->data = group;
	return 0;
}

static int charge_run(struct workload_context *context, struct workload_worker *worker,
		      uint64_t nr_operations)
{
	struct umemcg *group = context->data;

	for (uint64_t i = 0; i < nr_operations; i++) {
		int error = umemcg_try_charge(group, NR_BYTES);

		if (error) {
			worker->failed = "umemcg_try_charge";
			return error;
		}
		umemcg_uncharge(group, NR_BYTES);
	}
	worker->nr_units += nr_operations;
	return 0;
}

const struct workload workload_charge = {
	.name = "charge",
	.description = "lib only: try_charge + uncharge of 256 bytes at some depth",
	.title = { [WORKLOAD_LIB] = "charge, try_charge + uncharge at a depth (lib)" },
	.why_not = { [WORKLOAD_KERNEL] = "the kernel has no explicit charges" },
	.workers = WORKLOAD_THREADS,
	.metrics = { { "time per pair", "ns", WORKLOAD_LOWER, workload_ns_per_unit } },
	.parameter = "depth",
	.values = { 1, 2, 4, 8, 16 },
	.nr_values = 5,
	.nr_values_quick = 5,
	.operation = "pair",
	.nr_operations_exact = 4096,
	.one_by_one = { [WORKLOAD_LIB] = true },
	.setup = charge_setup,
	.run = charge_run,
};
