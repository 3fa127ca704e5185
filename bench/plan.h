/* SPDX-License-Identifier: MIT */
/*
 * What a run will measure: suites of jobs. A suite is one workload of one target with one set of
 * parameters; its jobs are the configurations, which are compared with one another and do the same
 * number of operations. What cannot be measured is in the plan too, with the reason.
 */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#include "options.h"
#include "protocol.h"
#include "skipped.h"
#include "targets/kernel/cgroup.h"

struct sample {
	unsigned int round;
	struct protocol_block block;
};

struct job {
	const struct configuration *configuration; /* what the table calls it */
	const struct configuration *state;         /* what it does: the base's, for the control */
	uint64_t nr_bytes_max;                     /* limit; 0 for none */
	struct sample *samples;
	size_t nr_samples;
	unsigned int nr_failures;
	bool dropped;
	char why[PROTOCOL_ERROR]; /* of the last failure */
};

struct suite {
	const struct workload *workload;
	enum workload_target target;
	unsigned int nr_workers;
	uint64_t value;         /* of the workload's parameter */
	uint64_t nr_operations; /* of each worker in a block; 0 until calibrated */
	struct job *jobs;
	size_t nr_jobs;
};

struct plan {
	struct suite *suites;
	size_t nr_suites;
	size_t nr_jobs; /* of all suites */
	struct skipped_list skipped;
	struct workload command; /* the user's, as a workload */
	char command_name[64];
	char command_title[128];
};

/**
 * plan_create - suites and jobs for what was asked
 * @options:  outlives the plan
 * @cgroup:   prepared: says what of the kernel's can be measured
 * @nr_cpus:  usable by this process
 * @ret_plan: for plan_destroy()
 *
 * Return: 0; -ENOMEM.
 */
int plan_create(const struct bench_options *options, const struct cgroup *cgroup,
		unsigned int nr_cpus, struct plan **ret_plan);

void plan_destroy(struct plan *plan);

/** plan_skip_job - add a job of a suite to what cannot be measured */
int plan_skip_job(struct plan *plan, const struct suite *suite, const struct job *job,
		  const char *why);

/** job_add_sample - returns 0 or -ENOMEM */
int job_add_sample(struct job *job, unsigned int round, const struct protocol_block *block);

/**
 * plan_why_not - why a configuration cannot be measured for a target here
 *
 * Return: a line, or NULL if it can.
 */
const char *plan_why_not(const struct configuration *configuration, enum workload_target target,
			 const struct cgroup *cgroup);

/** plan_workload_why_not - the same for a workload, whatever the configuration */
const char *plan_workload_why_not(const struct workload *workload, enum workload_target target,
				  const struct cgroup *cgroup);

/** target_name - "lib", "kernel" */
const char *target_name(enum workload_target target);

/** suite_name - "kernel pft groups=10, 3 workers"; returns @buffer */
const char *suite_name(const struct suite *suite, char *buffer, size_t size);

#endif
