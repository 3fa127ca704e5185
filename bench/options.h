/* SPDX-License-Identifier: MIT */
/* What `umemcg bench` was asked for. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "configurations.h"
#include "workloads/workload.h"

#define OPTIONS_NR_WORKLOADS      32
#define OPTIONS_NR_CONFIGURATIONS 32
#define OPTIONS_NR_WORKERS        32

enum preset {
	PRESET_QUICK,
	PRESET_SEEDS, /* the tables of both seeds */
	PRESET_FULL,
};

struct bench_options {
	enum preset preset;
	bool list;
	bool targets[WORKLOAD_NR_TARGETS];
	const struct workload *workloads[OPTIONS_NR_WORKLOADS];
	size_t nr_workloads;
	struct configuration configurations[OPTIONS_NR_CONFIGURATIONS];
	size_t nr_configurations;
	unsigned int workers[OPTIONS_NR_WORKERS]; /* empty: each workload's own choice */
	size_t nr_workers;
	unsigned int nr_runs; /* 0: as many as time allows */
	double time_s;
	uint64_t seed;
	const char *json;
	const char *csv;
	const char *save;
	char **command; /* NULL-terminated, or NULL */
};

/**
 * options_parse - read the command line of `umemcg bench`
 * @argc:        of @argv
 * @argv:        "bench" and what follows it
 * @ret_options: filled, presets applied
 *
 * Bad input is said on standard error in one line, and nothing has been changed. --help and the
 * like do not return.
 *
 * Return: 0; -EINVAL.
 */
int options_parse(int argc, char **argv, struct bench_options *ret_options);

#endif
