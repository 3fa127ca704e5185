/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How sure a ratio of means is, by resampling. Blocks are drawn, not samples:
 * what disturbs the machine for a while disturbs a whole block, so samples of
 * one block are not independent of each other, also not across configurations.
 */
#ifndef UMEMCG_BENCH_REPORT_BOOTSTRAP_H
#define UMEMCG_BENCH_REPORT_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/result.h"

/* A run of less blocks has no interval from resampling alone: see bootstrap.c. */
#define BOOTSTRAP_MIN_BLOCKS 5

/* Changes are of the new value against the base, in percent: + is larger. */
struct bootstrap {
	size_t nr_blocks;      /* of the series that has less of them */
	bool has_change;       /* false if a mean is 0 or there are no samples */
	double change_percent; /* of the mean (harmonic for rates) */
	bool has_interval;     /* false for less than two blocks */
	double low_percent;    /* the 95 % interval of that change */
	double high_percent;
	double median_change_percent;
	double median_low_percent;
	double median_high_percent;
	double p_value; /* that the means do not differ; 1 without interval */
};

/**
 * bootstrap_compare - the change from one series to another
 * @base:          live series
 * @series:        live series, better the same way
 * @paired:        both were run in the same blocks, which are drawn together
 * @seed:          the same seed gives the same figures
 * @ret_bootstrap: filled in
 *
 * Return: 0; -ENOMEM.
 */
int bootstrap_compare(const struct bench_series *base, const struct bench_series *series,
		      bool paired, uint64_t seed, struct bootstrap *ret_bootstrap);

#endif
