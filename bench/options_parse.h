/* SPDX-License-Identifier: MIT */
/* Reading the command line of `umemcg bench`: what its parts tell one another. */
#ifndef BENCH_OPTIONS_PARSE_H
#define BENCH_OPTIONS_PARSE_H

#include <argp.h>

#include "options.h"

enum {
	OPTIONS_KEY_RUNS = 256,
	OPTIONS_KEY_TIME,
	OPTIONS_KEY_SEED,
	OPTIONS_KEY_WORKERS,
	OPTIONS_KEY_JSON,
	OPTIONS_KEY_CSV,
	OPTIONS_KEY_HTML,
	OPTIONS_KEY_SAVE,
	OPTIONS_KEY_QUICK,
	OPTIONS_KEY_FULL,
	OPTIONS_KEY_SEEDS,
	OPTIONS_KEY_LIST,
	OPTIONS_KEY_KERNEL,
	OPTIONS_KEY_DEBUG_INFO,
	OPTIONS_KEY_GET_KERNEL,
	OPTIONS_KEY_YES,
	OPTIONS_KEY_LAYOUTS,
	OPTIONS_KEY_CGROUP,
	OPTIONS_KEY_EXPLAIN,
	OPTIONS_KEY_HELP = 'h',
};

struct parse {
	struct bench_options *options;
	bool refused; /* and said why */
	int next;     /* index of the argument behind those that were understood */
	bool has_time;
	/* As given, or NULL; presets fill them. */
	const char *targets;
	const char *workloads;
	const char *configurations;
	const char *cgroups;
	const char *explain;
	/* The last option that only this meter knows, as given, or NULL. */
	const char *only[METER_NR];
};

/** options_refuse - say in one line what is wrong; returns EINVAL, as argp wants it */
__attribute__((format(printf, 1, 2))) error_t options_refuse(const char *format, ...);

/** options_parse_number - a number in digits from 0 to @max */
bool options_parse_number(const char *text, uint64_t max, uint64_t *ret_number);

/**
 * options_parse_exact - one of the options that the exact meter alone knows
 *
 * Return: 0; EINVAL, and it was said why; ARGP_ERR_UNKNOWN for any other option.
 */
error_t options_parse_exact(int key, const char *argument, struct parse *parse);

/** options_check_exact - do they all fit together? Returns 0; EINVAL, and it was said why */
error_t options_check_exact(const struct parse *parse);

/** options_apply_preset - what the presets choose, where the command line did not */
void options_apply_preset(struct parse *parse);

#endif
