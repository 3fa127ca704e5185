/* SPDX-License-Identifier: MIT */
/* Carrying a plan out: calibration, then rounds of interleaved blocks until time is up. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "plan.h"

/* What is the same for all blocks of a run. */
struct run_setting {
	const struct bench_options *options;
	const struct cgroup *cgroup; /* prepared */
	const char *worker;          /* path of umemcg-bench-worker */
	const char *worker_not_compiled;
	const char *cpus; /* "0,1": where workers are pinned */
};

/* How it went. */
struct run_outcome {
	unsigned int nr_rounds;
	double block_s; /* that a block was meant to take */
	bool interrupted;
};

/**
 * run_plan - measure everything in the plan
 * @setting: as above
 * @plan:    its jobs get samples; what failed is dropped and added to what is skipped
 * @ret_outcome: as above
 *
 * A signal that sets block_interrupted ends it early, with what was measured.
 *
 * Return: 0; -ENOMEM.
 */
int run_plan(const struct run_setting *setting, struct plan *plan, struct run_outcome *ret_outcome);

#endif
