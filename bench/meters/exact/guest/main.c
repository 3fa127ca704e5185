/* SPDX-License-Identifier: MIT */
/*
 * umemcg-bench-guest: the only program of the exact meter's guests. It is their init, which reads a
 * job, starts its blocks one after another and answers; each block, which is a process of its own;
 * and what a block starts where a program is wanted that ends at once.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <umemcg.h>

#include "meters/exact/guest/block.h"
#include "meters/exact/guest/kernel.h"
#include "meters/exact/guest/ports.h"
#include "meters/exact/guest/program.h"
#include "meters/exact/guest/system.h"
#include "meters/exact/guest/tree.h"

/* One run of a block in the place that it needs; returns the most that its group held, in bytes. */
static uint64_t run_once(struct tree *tree, const struct guest_job *job,
			 struct block_request *request, char **arguments, uint64_t nr_bytes_max,
			 struct block_report *ret_report)
{
	const struct workload *workload = workload_find(request->block.workload);
	bool inner = workload && workload->makes_groups &&
		     (job->depth || workload->makes_groups_at_root);
	struct place place = { 0 };
	int error = 0;

	request->nr_bytes_max = nr_bytes_max;
	if (job->target == WORKLOAD_KERNEL)
		error = tree_take(tree, inner, nr_bytes_max, &place);
	else if (job->limit == LIMIT_FAR)
		request->nr_bytes_max = PLACE_FAR_BYTES;
	if (error) {
		snprintf(ret_report->failed, JOB_ERROR, "making a cgroup: %.150s",
			 tree->cgroup.can_make ? strerror(-error) : tree->cgroup.why_not);
		return 0;
	}
	memcpy(request->cgroup, place.directory, PATH_MAX);
	system_calm();
	block_run(job, request, arguments, place.procs, ret_report);
	if (job->target == WORKLOAD_LIB)
		return ret_report->nr_bytes_peak;
	return tree_leave(tree, &place);
}

/* The limit is 2 % above what the block takes without a limit: it is run once to find that out. */
static uint64_t find_limit(struct tree *tree, const struct guest_job *job,
			   const struct block_request *request, char **arguments,
			   struct block_report *ret_report)
{
	struct block_request unlimited = *request;
	uint64_t nr_bytes;

	unlimited.counted = false;
	nr_bytes = run_once(tree, job, &unlimited, arguments, 0, ret_report);
	if (!ret_report->failed[0] && !nr_bytes)
		snprintf(ret_report->failed, JOB_ERROR, "%s",
			 job->target == WORKLOAD_LIB ? "it charges nothing to be near to"
						     : "the kernel does not tell a group's peak");
	return nr_bytes + nr_bytes / 50;
}

static void run_block(struct tree *tree, const struct guest_job *job, const struct job_block *block)
{
	struct block_request request = { .block = *block,
					 .target = job->target,
					 .depth = job->depth,
					 .counted = !block->argv || !program_has_marks() };
	struct block_report report = { 0 };
	uint64_t nr_bytes_max = 0;

	for (char **argument = block->argv; argument && *argument; argument++)
		request.nr_arguments++;
	request.block.argv = NULL;
	/* A program that is not to be counted as a whole has parts that a warm-up would add to. */
	if (block->argv)
		request.block.nr_warm_up = request.counted ? 1 : 0;
	if (job->limit == LIMIT_NEAR && !request.counted)
		snprintf(report.failed, JOB_ERROR,
			 "its own marks would count the run that finds the limit");
	else if (job->limit == LIMIT_NEAR)
		nr_bytes_max = find_limit(tree, job, &request, block->argv, &report);
	if (!report.failed[0])
		run_once(tree, job, &request, block->argv, nr_bytes_max, &report);
	if (report.failed[0]) {
		ports_say("failed %u %s", block->index, report.failed);
		return;
	}
	if (report.quiet)
		ports_say("quiet %u", block->index);
	ports_say("block %u %" PRIu64 " %" PRIu64, block->index, report.nr_units, report.nr_apart);
}

/*
 * From the first group on the kernel accounts in the root too, and goes on when the group is gone.
 * So what makes groups whatever the configuration comes last, in all of them.
 */
static void run_blocks(struct tree *tree, const struct guest_job *job, bool making_groups)
{
	for (size_t i = 0; i < job->nr_blocks; i++) {
		const struct workload *workload = workload_find(job->blocks[i].workload);

		if (making_groups == (workload && workload->makes_groups_at_root))
			run_block(tree, job, &job->blocks[i]);
	}
}

static int run_job(const struct guest_job *job, char *error)
{
	static struct tree tree;
	int result;

	if (job->symbols) {
		result = kernel_say_symbols();
		if (result)
			snprintf(error, JOB_ERROR, "reading the kernel's symbols: %s",
				 strerror(-result));
		return result;
	}
	result = tree_init(&tree, job, error);
	if (!result) {
		run_blocks(&tree, job, false);
		run_blocks(&tree, job, true);
	}
	return result;
}

static void init_main(void)
{
	struct guest_job *job = NULL;
	char error[JOB_ERROR] = "";
	struct utsname kernel;
	sigset_t child;
	char *text;
	int result;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	system_start();
	uname(&kernel);
	ports_say(ANSWER_FIRST_LINE);
	ports_say("kernel %s", kernel.release);
	ports_say("memcg %s", kernel_has_memcg() ? "compiled" : "absent");
	result = ports_read_job(&text);
	if (!result)
		result = job_parse(text, &job);
	if (result)
		snprintf(error, sizeof(error), "reading the job: %s", strerror(-result));
	else
		result = run_job(job, error);
	if (result)
		ports_say("error %s", error);
	ports_say("end");
	system_power_off();
}

/* For exec_test: a program that is linked with the library, uses it once, and ends. */
static int true_main(void)
{
	umemcg_free(umemcg_malloc(64));
	return 0;
}

int main(int argc, char **argv)
{
	if (getpid() == 1)
		init_main();
	/* In place of the /bin/true of other systems, without the library. */
	if (argc == 1 && !strcmp(argv[0], "true"))
		return 0;
	if (argc == 2 && !strcmp(argv[1], "--true"))
		return true_main();
	if (argc == 2 && !strcmp(argv[1], BLOCK_OPTION) && !access(BLOCK_REQUEST, R_OK))
		return block_main();
	fprintf(stderr, "umemcg-bench-guest: is for the exact meter's guests, as their init\n");
	return 2;
}
