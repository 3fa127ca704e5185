/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From an exact plan that was run to its result. */
#ifndef BENCH_OUTPUT_EXACT_H
#define BENCH_OUTPUT_EXACT_H

#include "machine.h"
#include "meters/exact/exact_kernels.h"
#include "meters/exact/exact_plan.h"
#include "report/result.h"

/* A run of the exact meter that is over. */
struct exact_output {
	const struct exact_plan *plan;
	const struct exact_kernels *kernels;
	struct files *program_files[2]; /* of the guest's programs; the second has no controller */
	const struct machine *machine;
	bool interrupted;
};

/**
 * output_exact_result - the result of an exact run
 * @output:     as above
 * @ret_result: for result_destroy()
 *
 * A sample is a layout. Series of the kernel's have the parameter "cgroup" ("v1" or "v2"), and
 * "kernel", its name, where there were several; those of a workload with a value have that too.
 * Each workload and configuration has a profile, of layout 0.
 *
 * Return: 0; -ENOMEM.
 */
int output_exact_result(const struct exact_output *output, struct bench_result **ret_result);

#endif
