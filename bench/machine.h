/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine a run is made on, and whether others used it meanwhile. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include "report/result.h"
#include "targets/kernel/cgroup.h"

struct machine {
	struct bench_environment environment; /* its strings are below */
	unsigned int nr_cpus;                 /* usable by this process */
	char cpus[1280];                      /* "0,1": their numbers */
	char kernel[128];
	char command_line[2048];
	char cpu[128];
	char thp[32];
	char aslr[32];
	char governor[32];
	char pinning[1400];
	char warm_up[64];
	char started[32];
};

/* Processor seconds, read at the start and at the end of a run. */
struct machine_use {
	double busy_s; /* of everybody */
	double own_s;  /* of this process and the children it has waited for */
	double clock_s;
};

/** machine_read - fill in what can be known */
void machine_read(struct machine *machine, const struct cgroup *cgroup);

/** machine_use - how much processor time has been used so far */
struct machine_use machine_use(void);

/**
 * machine_others - part of the machine that others used between two readings
 *
 * Return: 0 to 1; stolen time counts as the others'.
 */
double machine_others(const struct machine_use *start, const struct machine_use *end);

#endif
