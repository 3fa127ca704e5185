/* SPDX-License-Identifier: MIT */
/*
 * What an exact run will measure: boots of guests. A boot is one kernel in one configuration with
 * one version of cgroups; it runs every suite of its target, that is a workload with one value of
 * its parameter, once in each layout. All boots of a target run the same blocks in the same order,
 * since what ran before is part of what is counted.
 */
#ifndef BENCH_METERS_EXACT_EXACT_PLAN_H
#define BENCH_METERS_EXACT_EXACT_PLAN_H

#include "meters/exact/exact_figures.h"
#include "meters/exact/job.h"
#include "meters/exact/kernels.h"
#include "options.h"
#include "skipped.h"

struct exact_suite {
	const struct workload *workload;
	enum workload_target target;
	uint64_t value; /* of the workload's parameter */
	uint64_t nr_operations;
	uint64_t nr_warm_up;
};

/* A part that the user's program marked itself, by its id. */
struct exact_mark {
	unsigned int id;
	struct exact_block block;
};

enum boot_state {
	BOOT_WAITS,
	BOOT_RUNS,
	BOOT_DONE,
	BOOT_FAILED,
};

struct exact_boot {
	enum workload_target target;
	const struct configuration *configuration;
	const struct kernel *kernel; /* that is booted */
	enum job_cgroup cgroup;
	enum boot_state state;
	/* Of suite s and layout l at s * nr_layouts + l, once it is done; other targets' stay
	 * empty. */
	struct exact_block *blocks;
	struct exact_mark *marks; /* parts of the user's program, over all its blocks */
	size_t nr_marks;
};

struct exact_plan {
	const struct bench_options *options;
	const struct kernel *kernels;
	size_t nr_kernels;
	struct exact_suite *suites;
	size_t nr_suites;
	struct exact_boot *boots;
	size_t nr_boots;
	struct skipped_list skipped;
	struct workload command; /* the user's, as a workload */
	char command_name[64];
	char command_title[128];
};

/**
 * exact_plan_create - suites and boots for what was asked
 * @options:    outlives the plan
 * @kernels:    with symbols; outlive the plan
 * @nr_kernels: at least one
 * @ret_plan:   for exact_plan_destroy()
 *
 * A kernel without a memory controller is what base-NotCompiled of the others is measured with.
 *
 * Return: 0; -ENOMEM.
 */
int exact_plan_create(const struct bench_options *options, const struct kernel *kernels,
		      size_t nr_kernels, struct exact_plan **ret_plan);

void exact_plan_destroy(struct exact_plan *plan);

/** exact_plan_nr_blocks - blocks that a boot runs */
unsigned int exact_plan_nr_blocks(const struct exact_plan *plan, enum workload_target target);

/** exact_workload_why_not - why a workload cannot be counted in a guest, or NULL */
const char *exact_workload_why_not(const struct workload *workload, enum workload_target target);

/** exact_boot_name - "kernel Set", with the kernel's name and v1 where that tells; returns @buffer
 */
const char *exact_boot_name(const struct exact_plan *plan, const struct exact_boot *boot,
			    char *buffer, size_t size);

/** exact_suite_name - "pft", "groups groups=10"; returns @buffer */
const char *exact_suite_name(const struct exact_suite *suite, char *buffer, size_t size);

#endif
