/* SPDX-License-Identifier: MIT */
/*
 * One block of a guest's job: a process of its own, which init starts and which is this program
 * again. What it is to do, and what came of it, is in a file of the guest's, so that no descriptor
 * is open and nothing is mapped while it is counted.
 */
#ifndef BENCH_METERS_EXACT_GUEST_BLOCK_H
#define BENCH_METERS_EXACT_GUEST_BLOCK_H

#include <limits.h>

#include "meters/exact/job.h"

#define BLOCK_OPTION  "--block"
#define BLOCK_REQUEST "/block-request"
#define BLOCK_REPORT  "/block-report"
#define BLOCK_PROGRAM "/program"
#define BLOCK_SELF    "/init"

struct block_request {
	struct job_block block; /* its argv is NULL: the arguments follow this in the file */
	uint64_t nr_arguments;  /* of the user's program; 0 for a workload */
	enum workload_target target;
	unsigned int depth;
	uint64_t nr_bytes_max; /* lib: of its group; 0 for none */
	bool counted;          /* else it runs, but with no marks */
	char cgroup[PATH_MAX]; /* kernel: in which it can make groups, or "" */
};

struct block_report {
	bool over;
	bool quiet;
	uint64_t nr_units;
	uint64_t nr_apart;
	uint64_t nr_bytes_peak; /* lib: of its group */
	char failed[JOB_ERROR]; /* empty if it did not */
};

/** block_main - the process: does what is requested; returns its exit status */
int block_main(void);

/**
 * block_run - start such a process and wait until it is over
 * @job:        its environment is the block's
 * @request:    what to do
 * @procs:      cgroup.procs of the group to run in, or ""
 * @ret_report: what came of it; failed says so if it died or hung
 *
 * Nothing that it started is left when this returns.
 */
void block_run(const struct guest_job *job, const struct block_request *request, char **arguments,
	       const char *procs, struct block_report *ret_report);

#endif
