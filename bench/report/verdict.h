/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a comparison says. "No significant difference" is not among the
 * answers: either the difference is known to be small, or it is known to be
 * there, or it is not known, and then more runs would tell.
 */
#ifndef UMEMCG_BENCH_REPORT_VERDICT_H
#define UMEMCG_BENCH_REPORT_VERDICT_H

#include <stddef.h>

#include "report/bootstrap.h"

/* A difference of less than this many percent is of no interest. */
#define VERDICT_DEFAULT_EFFECT_PERCENT 1.0

/* How often chance alone makes an interval exclude zero. */
#define VERDICT_FALSE_RATE 0.05

enum verdict {
	VERDICT_NONE,    /* nothing was compared: the base, or nothing to compare with */
	VERDICT_EQUAL,   /* the interval lies within +- the effect of interest */
	VERDICT_COSTS,   /* it does not, and excludes zero on the worse side */
	VERDICT_SAVES,   /* the same on the better side */
	VERDICT_UNCLEAR, /* neither: more runs would tell */
};

/** verdict_name - "equal", "costs", "saves", "unclear", or "" */
const char *verdict_name(enum verdict verdict);

/**
 * verdict_of - judge a comparison
 * @bootstrap:      the change and its interval
 * @better:         lower: a larger value costs; higher: it saves
 * @effect_percent: the smallest effect of interest
 * @p_adjusted:     adjusted for many comparisons: above VERDICT_FALSE_RATE the
 *                  interval does not count as one that excludes zero; 0 without
 *                  an adjustment, then the interval alone decides
 *
 * Return: the first of equal, costs or saves, unclear that holds.
 */
enum verdict verdict_of(const struct bootstrap *bootstrap, enum bench_better better,
			double effect_percent, double p_adjusted);

/**
 * verdict_runs_needed - about how many more blocks would make it clear
 * @bootstrap:      of an unclear comparison
 * @effect_percent: as for verdict_of()
 * @widening:       by how much an adjustment for many comparisons widens the
 *                  interval that counts; 1 without
 *
 * If the change stays what it is, the interval shrinks with the root of the
 * number of blocks until it excludes zero or fits into +- the effect.
 *
 * Return: at least 1, at most 1000000.
 */
size_t verdict_runs_needed(const struct bootstrap *bootstrap, double effect_percent,
			   double widening);

#endif
