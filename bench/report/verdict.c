/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/verdict.h"

#include <math.h>

#define MOST_RUNS 1000000

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_NONE] = "",       [VERDICT_EQUAL] = "equal",     [VERDICT_COSTS] = "costs",
		[VERDICT_SAVES] = "saves", [VERDICT_UNCLEAR] = "unclear",
	};

	return names[verdict];
}

enum verdict verdict_of(const struct bootstrap *bootstrap, enum bench_better better,
			double effect_percent, double p_adjusted)
{
	enum verdict larger = better == BENCH_LOWER ? VERDICT_COSTS : VERDICT_SAVES;
	enum verdict smaller = better == BENCH_LOWER ? VERDICT_SAVES : VERDICT_COSTS;

	if (!bootstrap->has_interval)
		return VERDICT_UNCLEAR;
	if (bootstrap->low_percent >= -effect_percent && bootstrap->high_percent <= effect_percent)
		return VERDICT_EQUAL;
	if (p_adjusted > VERDICT_FALSE_RATE)
		return VERDICT_UNCLEAR;
	if (bootstrap->low_percent > 0)
		return larger;
	if (bootstrap->high_percent < 0)
		return smaller;
	return VERDICT_UNCLEAR;
}

size_t verdict_runs_needed(const struct bootstrap *bootstrap, double effect_percent,
			   double widening)
{
	double change = fabs(bootstrap->change_percent), half, wanted, needed;

	if (!bootstrap->has_interval)
		return bootstrap->nr_blocks < BOOTSTRAP_MIN_BLOCKS
			       ? BOOTSTRAP_MIN_BLOCKS - bootstrap->nr_blocks
			       : 1;
	half = widening * fmax(bootstrap->high_percent - bootstrap->change_percent,
			       bootstrap->change_percent - bootstrap->low_percent);
	/* The easier of the two ends: excluding zero, or fitting in. */
	wanted = fmax(change, effect_percent - change);
	needed = (double)bootstrap->nr_blocks * (half / wanted) * (half / wanted);
	needed = ceil(needed) - (double)bootstrap->nr_blocks;
	if (!(needed < MOST_RUNS))
		return MOST_RUNS;
	return needed < 1 ? 1 : (size_t)needed;
}
