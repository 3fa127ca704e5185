/* SPDX-License-Identifier: MIT */
/*
 * umemcg-bench-worker: runs one block of one workload in one configuration and says on a pipe what
 * it came to. Each block is a process of its own, since what a configuration switches is read at
 * the start of a process. The driver puts it into its group of the kernel's; a group of the
 * library's it makes itself.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <umemcg.h>

#include "meters/time/measure.h"
#include "protocol.h"
#include "targets/lib/lib.h"
#include "workloads/workload.h"

struct worker_options {
	const struct workload *workload;
	struct workload_context context;
	struct measure_cpus cpus;
	uint64_t nr_bytes_max;
	double calibrate_s;
	int report_fd;
};

enum {
	OPTION_WORKLOAD,
	OPTION_TARGET,
	OPTION_WORKERS,
	OPTION_OPERATIONS,
	OPTION_CALIBRATE,
	OPTION_WARM_UP,
	OPTION_VALUE,
	OPTION_SEED,
	OPTION_CPUS,
	OPTION_DEPTH,
	OPTION_MAX,
	OPTION_CGROUP,
	OPTION_REPORT,
	OPTION_TRUE,
};

static const struct option long_options[] = {
	{ "workload", required_argument, NULL, OPTION_WORKLOAD },
	{ "target", required_argument, NULL, OPTION_TARGET },
	{ "workers", required_argument, NULL, OPTION_WORKERS },
	{ "operations", required_argument, NULL, OPTION_OPERATIONS },
	{ "calibrate", required_argument, NULL, OPTION_CALIBRATE },
	{ "warm-up", required_argument, NULL, OPTION_WARM_UP },
	{ "value", required_argument, NULL, OPTION_VALUE },
	{ "seed", required_argument, NULL, OPTION_SEED },
	{ "cpus", required_argument, NULL, OPTION_CPUS },
	{ "depth", required_argument, NULL, OPTION_DEPTH },
	{ "max", required_argument, NULL, OPTION_MAX },
	{ "cgroup", required_argument, NULL, OPTION_CGROUP },
	{ "report-fd", required_argument, NULL, OPTION_REPORT },
	{ "true", no_argument, NULL, OPTION_TRUE },
	{ 0 },
};

static void parse_cpus(const char *text, struct measure_cpus *cpus)
{
	char *end;

	for (; *text && cpus->nr_cpus < MEASURE_NR_CPUS; text = *end == ',' ? end + 1 : end) {
		cpus->cpus[cpus->nr_cpus++] = (int)strtol(text, &end, 10);
		if (end == text)
			return;
	}
}

/* The driver is the only caller, so a wrong option is a fault of the lab and simply ends here. */
static bool parse_option(int option, const char *value, struct worker_options *options)
{
	struct workload_context *context = &options->context;
	uint64_t number = value ? strtoull(value, NULL, 10) : 0;

	switch (option) {
	case OPTION_WORKLOAD:
		options->workload = workload_find(value);
		return options->workload;
	case OPTION_TARGET:
		context->target = strcmp(value, "lib") ? WORKLOAD_KERNEL : WORKLOAD_LIB;
		return true;
	case OPTION_WORKERS:
		context->nr_workers = (unsigned int)number;
		return number > 0;
	case OPTION_OPERATIONS:
		context->nr_operations = number;
		return number > 0;
	case OPTION_CALIBRATE:
		options->calibrate_s = strtod(value, NULL);
		return options->calibrate_s > 0;
	case OPTION_WARM_UP:
		context->nr_warm_up = number;
		return true;
	case OPTION_VALUE:
		context->value = number;
		return true;
	case OPTION_SEED:
		context->seed = number;
		return true;
	case OPTION_CPUS:
		parse_cpus(value, &options->cpus);
		return true;
	case OPTION_DEPTH:
		context->depth = (unsigned int)number;
		return true;
	case OPTION_MAX:
		options->nr_bytes_max = number;
		return true;
	case OPTION_CGROUP:
		context->cgroup = value;
		return true;
	case OPTION_REPORT:
		options->report_fd = (int)number;
		return true;
	default:
		return false;
	}
}

/* For exec_test: a program that is linked with the library, uses it once, and ends. */
static int true_main(void)
{
	umemcg_free(umemcg_malloc(64));
	return 0;
}

static int block_run(struct worker_options *options, struct protocol_block *block)
{
	const struct workload *workload = options->workload;
	struct workload_context *context = &options->context;
	struct workload_totals totals;
	char error[MEASURE_ERROR] = "";
	int result;

	if (options->calibrate_s > 0) {
		result = measure_calibrate(workload, context, &options->cpus, options->calibrate_s,
					   &block->nr_calibrated, error);
		snprintf(block->error, sizeof(block->error), "%s", error);
		return result;
	}
	result = measure_block(workload, context, &options->cpus, &totals, error);
	snprintf(block->error, sizeof(block->error), "%s", error);
	if (result)
		return result;
	block->nr_operations = totals.nr_units;
	for (unsigned int i = 0; i < WORKLOAD_NR_METRICS && workload->metrics[i].name; i++) {
		double value = workload->metrics[i].value(&totals);

		block->has_metric[i] = value >= 0;
		block->metrics[i] = value;
	}
	block->has_times = true;
	block->user_s = totals.user_s;
	block->system_s = totals.system_s;
	block->elapsed_s = totals.elapsed_s;
	block->nr_bytes_peak = lib_peak(context);
	return 0;
}

static void report(int fd, const struct protocol_block *block)
{
	char text[PROTOCOL_SIZE];
	size_t length = protocol_format(block, text);

	/* Below PIPE_BUF, so it arrives whole or not at all. */
	if (write(fd, text, length) != (ssize_t)length)
		_exit(1);
}

int main(int argc, char **argv)
{
	struct worker_options options = { .context = { .nr_workers = 1,
						       .program = "/proc/self/exe" },
					  .report_fd = STDOUT_FILENO };
	struct protocol_block block = { 0 };
	int option, error = 0;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == OPTION_TRUE)
			return true_main();
		if (!parse_option(option, optarg, &options))
			return 2;
	}
	if (!options.workload || (!options.context.nr_operations && !options.calibrate_s))
		return 2;
	/* Huge pages would make one fault of five hundred; a refusal leaves the advice of regions.
	 */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (options.context.target == WORKLOAD_LIB)
		error = lib_enter(&options.context, options.context.depth, options.nr_bytes_max);
	if (error)
		snprintf(block.error, sizeof(block.error), "entering a group: %s",
			 strerror(-error));
	else
		error = block_run(&options, &block);
	report(options.report_fd, &block);
	return error ? 1 : 0;
}
