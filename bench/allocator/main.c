/* SPDX-License-Identifier: MIT */
/*
 * Runs one allocator workload and prints what it took, as one line of name=value pairs. With the
 * library, --max puts the whole run into a group with that limit, and --group into one without.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "alloc.h"
#include "workloads.h"

#define ENTRY(name, description, nr_threads, nr_rounds)                                            \
	{ #name, description, { nr_threads, nr_rounds, 1 }, name##_run },
static const struct workload workloads[] = { ALLOCATOR_WORKLOADS(ENTRY) };
#undef ENTRY

enum { NR_WORKLOADS = sizeof(workloads) / sizeof(workloads[0]) };

struct options {
	const struct workload *workload;
	struct parameters parameters; /* 0 where the workload's own is wanted */
	uint64_t percent;             /* of the workload's own rounds */
	uint64_t max;                 /* 0 for no group, UINT64_MAX for no limit */
};

struct usage {
	double elapsed_s, user_s, system_s;
};

static const struct argp_option argp_options[] = {
	{ "threads", 't', "N", 0, "threads, for a workload that has several", 0 },
	{ "rounds", 'n', "N", 0, "how much of the workload's unit to do", 0 },
	{ "percent", 'p', "N", 0, "do so much of the workload's own rounds", 0 },
	{ "seed", 's', "N", 0, "start of the random sequences (1)", 0 },
	{ "group", 'g', NULL, 0, "run in a group without limit", 0 },
	{ "max", 'm', "BYTES", 0, "run in a group with this limit", 0 },
	{ "list", 'l', NULL, 0, "print the workloads", 0 },
	{ 0 },
};

static void list_workloads(void)
{
	for (size_t i = 0; i < NR_WORKLOADS; i++)
		printf("%-9s %s\n", workloads[i].name, workloads[i].description);
}

static const struct workload *find_workload(const char *name)
{
	for (size_t i = 0; i < NR_WORKLOADS; i++) {
		if (!strcmp(workloads[i].name, name))
			return &workloads[i];
	}
	return NULL;
}

static uint64_t parse_number(const char *text, uint64_t most, struct argp_state *state)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || text[0] < '0' || text[0] > '9' || value == 0 || value > most)
		argp_failure(state, 2, 0, "%s: a number from 1 to %llu is wanted", text,
			     (unsigned long long)most);
	return value;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 't':
		options->parameters.nr_threads =
			(unsigned int)parse_number(arg, WORKERS_MAX, state);
		return 0;
	case 'n':
		options->parameters.nr_rounds = parse_number(arg, 1000000000, state);
		return 0;
	case 'p':
		options->percent = parse_number(arg, 100000, state);
		return 0;
	case 's':
		options->parameters.seed = parse_number(arg, UINT64_MAX, state);
		return 0;
	case 'g':
		options->max = UINT64_MAX;
		return 0;
	case 'm':
		options->max = parse_number(arg, UINT64_MAX - 1, state);
		return 0;
	case 'l':
		list_workloads();
		exit(0);
	case ARGP_KEY_ARG:
		options->workload = find_workload(arg);
		if (!options->workload || state->arg_num > 0)
			argp_failure(state, 2, 0, "%s: no such workload; --list prints them", arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_failure(state, 2, 0, "which workload? --list prints them");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static struct parameters parameters_of(const struct options *options)
{
	struct parameters parameters = options->workload->defaults;

	parameters.nr_rounds = (parameters.nr_rounds * options->percent + 99) / 100;
	if (options->parameters.nr_threads)
		parameters.nr_threads = options->parameters.nr_threads;
	if (options->parameters.nr_rounds)
		parameters.nr_rounds = options->parameters.nr_rounds;
	if (options->parameters.seed)
		parameters.seed = options->parameters.seed;
	return parameters;
}

static void enter_group(uint64_t max)
{
#ifdef ALLOC_UMEMCG
	struct umemcg *group;

	if (!max)
		return;
	workload_expect(!umemcg_create(NULL, "alloc-bench", &group), "the group");
	/* Without the controller there is only the root, which has no limit to set. */
	if (max != UMEMCG_MAX && umemcg_state() == UMEMCG_ENABLED)
		workload_expect(!umemcg_set_max(group, max), "the group's limit");
	umemcg_enter(group);
#else
	workload_expect(!max, "--group and --max need the program that is linked to libumemcg");
#endif
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static struct usage usage_now(void)
{
	struct timespec now;
	struct rusage rusage;

	clock_gettime(CLOCK_MONOTONIC, &now);
	getrusage(RUSAGE_SELF, &rusage);
	return (struct usage){
		.elapsed_s = (double)now.tv_sec + (double)now.tv_nsec / 1e9,
		.user_s = seconds(rusage.ru_utime),
		.system_s = seconds(rusage.ru_stime),
	};
}

/*
 * The high-water mark of this program's own memory. ru_maxrss would be that of the process, which
 * was a copy of the starter before it called exec.
 */
static uint64_t peak_kib(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	unsigned long long peak = 0;
	char line[256];

	while (status && fgets(line, sizeof(line), status)) {
		if (sscanf(line, "VmHWM: %llu kB", &peak) == 1)
			break;
	}
	if (status)
		fclose(status);
	return peak;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { argp_options, parse_option,
					  "WORKLOAD",   "Runs one allocator workload.",
					  NULL,         NULL,
					  NULL };
	struct options options = { .percent = 100 };
	struct parameters parameters;
	struct usage before, after;
	uint64_t nr_operations;

	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, 0, NULL, &options))
		return 2;
	parameters = parameters_of(&options);
	enter_group(options.max);

	before = usage_now();
	nr_operations = options.workload->run(&parameters);
	after = usage_now();
	printf("workload=%s threads=%u rounds=%llu seed=%llu operations=%llu elapsed_s=%.6f "
	       "user_s=%.6f system_s=%.6f peak_kib=%llu\n",
	       options.workload->name, parameters.nr_threads,
	       (unsigned long long)parameters.nr_rounds, (unsigned long long)parameters.seed,
	       (unsigned long long)nr_operations, after.elapsed_s - before.elapsed_s,
	       after.user_s - before.user_s, after.system_s - before.system_s,
	       (unsigned long long)peak_kib());
	return 0;
}
