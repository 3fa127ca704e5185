/* SPDX-License-Identifier: MIT */
/* What `umemcg bench` was asked for. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "configurations.h"
#include "meters/meter.h"
#include "workloads/workload.h"

#define OPTIONS_NR_WORKLOADS      32
#define OPTIONS_NR_CONFIGURATIONS 32
#define OPTIONS_NR_WORKERS        32
#define OPTIONS_NR_KERNELS        8
#define OPTIONS_NR_LAYOUTS        16
#define OPTIONS_LAYOUTS_DEFAULT   5

enum preset {
	PRESET_QUICK,
	PRESET_SEEDS, /* the tables of both seeds */
	PRESET_FULL,
};

/* What the exact meter alone is asked for. */
struct exact_options {
	const char *kernels[OPTIONS_NR_KERNELS]; /* "PATH" or "NAME=PATH"; empty: the one found */
	size_t nr_kernels;
	const char *debug_infos[OPTIONS_NR_KERNELS]; /* the same form */
	size_t nr_debug_infos;
	unsigned int nr_layouts;
	bool cgroup_v1;
	bool cgroup_v2;
	bool explain; /* of the one workload: the last configuration against the first */
};

struct bench_options {
	enum preset preset;
	bool list;
	const char *get_kernel; /* package to get a kernel from, or NULL */
	bool yes;               /* without asking */
	enum meter meter;
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
	const char *html;
	const char *save;
	char **command;         /* NULL-terminated, or NULL */
	char program[PATH_MAX]; /* the command's, found in $PATH where that was meant */
	struct exact_options exact;
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
