/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A replicate draws as many blocks as there are, with replacement, and looks
 * at the change of the means within them. Changes are kept as logarithms of
 * ratios, where a halving and a doubling weigh the same.
 *
 * The plain percentile interval is too narrow for few blocks, as a normal
 * interval is where Student's is due: a replicate's spread is that of the
 * samples times sqrt((n - 1) / n). So the percentiles are those to which the
 * normal distribution, narrowed so, gives Student's 95 % (Hesterberg's expanded
 * percentile interval). Below BOOTSTRAP_MIN_BLOCKS these percentiles lie
 * beyond the rarest replicate; there, the replicates give the standard error
 * and Student's distribution gives the rest.
 */
#include "report/bootstrap.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_minmax.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/statistics.h"

#define MAX_REPLICATES 10000
#define MIN_REPLICATES 1000
/* Draws of blocks that one comparison may take: some tens of milliseconds. */
#define MAX_DRAWS 2000000

/* Half of what a 95 % interval leaves out. */
#define TAIL 0.025

struct value {
	double value;
	size_t block;
};

/* One series, cut into blocks 0 to nr_blocks - 1. */
struct side {
	double *sums;         /* of each block: of the values, or of a rate's reciprocals */
	double *counts;       /* of each block's samples */
	struct value *values; /* sorted, for the median */
	size_t nr_values;
};

/* How often a replicate drew each block. */
struct draw {
	unsigned int *times;
	size_t nr_blocks;
};

static void side_fini(struct side *side)
{
	free(side->sums);
	free(side->counts);
	free(side->values);
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static int by_value(const void *a, const void *b)
{
	const struct value *left = a, *right = b;

	return (left->value > right->value) - (left->value < right->value);
}

/* The block numbers of one or two series, sorted, each once; for free(). */
static uint32_t *block_numbers(const struct bench_series *one, const struct bench_series *other,
			       size_t *ret_nr_blocks)
{
	size_t nr_other = other ? other->nr_samples : 0;
	size_t nr_all = one->nr_samples + nr_other, nr_blocks = 0, i;
	uint32_t *numbers = malloc((nr_all + 1) * sizeof(*numbers));

	if (!numbers)
		return NULL;
	for (i = 0; i < one->nr_samples; i++)
		numbers[i] = one->samples[i].block;
	for (i = 0; i < nr_other; i++)
		numbers[one->nr_samples + i] = other->samples[i].block;
	qsort(numbers, nr_all, sizeof(*numbers), by_number);
	for (i = 0; i < nr_all; i++) {
		if (i == 0 || numbers[i] != numbers[nr_blocks - 1])
			numbers[nr_blocks++] = numbers[i];
	}
	*ret_nr_blocks = nr_blocks;
	return numbers;
}

static int side_init(struct side *side, const struct bench_series *series, const uint32_t *numbers,
		     size_t nr_blocks)
{
	side->nr_values = series->nr_samples;
	side->sums = calloc(nr_blocks + 1, sizeof(*side->sums));
	side->counts = calloc(nr_blocks + 1, sizeof(*side->counts));
	side->values = calloc(side->nr_values + 1, sizeof(*side->values));
	if (!side->sums || !side->counts || !side->values)
		return -ENOMEM;
	for (size_t i = 0; i < series->nr_samples; i++) {
		const struct bench_sample *sample = &series->samples[i];
		const uint32_t *number =
			bsearch(&sample->block, numbers, nr_blocks, sizeof(*numbers), by_number);
		size_t block = (size_t)(number - numbers);

		side->values[i] = (struct value){ sample->value, block };
		side->sums[block] +=
			series->better == BENCH_LOWER ? sample->value : 1 / sample->value;
		side->counts[block]++;
	}
	qsort(side->values, side->nr_values, sizeof(*side->values), by_value);
	return 0;
}

static size_t blocks_with_samples(const struct side *side, size_t nr_blocks)
{
	size_t nr_filled = 0;

	for (size_t i = 0; i < nr_blocks; i++)
		nr_filled += side->counts[i] > 0;
	return nr_filled;
}

static void draw_blocks(struct draw *draw, gsl_rng *generator)
{
	memset(draw->times, 0, draw->nr_blocks * sizeof(*draw->times));
	for (size_t i = 0; i < draw->nr_blocks; i++)
		draw->times[gsl_rng_uniform_int(generator, draw->nr_blocks)]++;
}

static double drawn_mean(const struct side *side, const struct draw *draw)
{
	double sum = 0, count = 0;

	for (size_t i = 0; i < draw->nr_blocks; i++) {
		sum += draw->times[i] * side->sums[i];
		count += draw->times[i] * side->counts[i];
	}
	return sum / count;
}

static double drawn_median(const struct side *side, const struct draw *draw)
{
	double nr_drawn = 0, nr_passed = 0, lower = NAN;

	for (size_t i = 0; i < draw->nr_blocks; i++)
		nr_drawn += draw->times[i] * side->counts[i];
	for (size_t i = 0; i < side->nr_values; i++) {
		nr_passed += draw->times[side->values[i].block];
		if (isnan(lower) && nr_passed * 2 >= nr_drawn)
			lower = side->values[i].value;
		if (nr_passed * 2 > nr_drawn)
			return (lower + side->values[i].value) / 2;
	}
	return lower;
}

/* A logarithm as a change in percent. */
static double percent(double log_ratio)
{
	return 100 * expm1(log_ratio);
}

struct replicates {
	double *means; /* logarithms of ratios, later sorted */
	double *medians;
	size_t nr_replicates;
};

static void replicate(const struct side *base, const struct side *other, struct draw *base_draw,
		      struct draw *other_draw, gsl_rng *generator, enum bench_better better,
		      struct replicates *replicates)
{
	size_t nr_wanted = replicates->nr_replicates, nr_kept = 0;

	for (size_t i = 0; i < nr_wanted; i++) {
		double mean, median;

		draw_blocks(base_draw, generator);
		if (other_draw != base_draw)
			draw_blocks(other_draw, generator);
		mean = log(drawn_mean(other, other_draw) / drawn_mean(base, base_draw));
		median = log(drawn_median(other, other_draw) / drawn_median(base, base_draw));
		/* A replicate of blocks that lack one of the two, or of zeros only. */
		if (!isfinite(mean) || !isfinite(median))
			continue;
		replicates->means[nr_kept] = better == BENCH_LOWER ? mean : -mean;
		replicates->medians[nr_kept++] = median;
	}
	replicates->nr_replicates = nr_kept;
	gsl_sort(replicates->means, 1, nr_kept);
	gsl_sort(replicates->medians, 1, nr_kept);
}

/* A replicate's spread is narrower than that of the mean by this factor. */
static double narrowing(size_t nr_blocks)
{
	return sqrt((double)(nr_blocks - 1) / (double)nr_blocks);
}

static void interval(const double *sorted, size_t nr_replicates, double centre, size_t nr_blocks,
		     double *ret_low, double *ret_high)
{
	double student = gsl_cdf_tdist_Qinv(TAIL, (double)(nr_blocks - 1));

	if (nr_blocks >= BOOTSTRAP_MIN_BLOCKS) {
		double tail = gsl_cdf_ugaussian_Q(student / narrowing(nr_blocks));

		*ret_low = gsl_stats_quantile_from_sorted_data(sorted, 1, nr_replicates, tail);
		*ret_high = gsl_stats_quantile_from_sorted_data(sorted, 1, nr_replicates, 1 - tail);
	} else {
		double half =
			student * gsl_stats_sd(sorted, 1, nr_replicates) / narrowing(nr_blocks);

		*ret_low = centre - half;
		*ret_high = centre + half;
	}
}

/*
 * The interval turned around: how much of its distribution lies on the other
 * side of no change. Where no replicate does, the normal tail says how far away
 * that is, since a count of replicates cannot.
 */
static double p_value(const double *sorted, size_t nr_replicates, double centre, size_t nr_blocks)
{
	double spread = gsl_stats_sd(sorted, 1, nr_replicates);
	size_t nr_below = 0, nr_above = 0;
	double rarer, distance;

	for (size_t i = 0; i < nr_replicates; i++) {
		nr_below += sorted[i] < 0;
		nr_above += sorted[i] > 0;
	}
	if (nr_below + nr_above == 0)
		return 1;
	rarer = (double)(nr_below < nr_above ? nr_below : nr_above);
	rarer += (double)(nr_replicates - nr_below - nr_above) / 2;
	if (nr_blocks >= BOOTSTRAP_MIN_BLOCKS && rarer >= 1)
		distance = gsl_cdf_ugaussian_Qinv(rarer / (double)nr_replicates);
	else
		distance = spread > 0 ? fabs(centre) / spread : INFINITY;
	if (isinf(distance))
		return 0;
	return fmin(1,
		    2 * gsl_cdf_tdist_Q(distance * narrowing(nr_blocks), (double)(nr_blocks - 1)));
}

static void summarise(const struct replicates *replicates, struct bootstrap *bootstrap)
{
	size_t nr_replicates = replicates->nr_replicates, nr_blocks = bootstrap->nr_blocks;
	double centre = log1p(bootstrap->change_percent / 100);
	double median = log1p(bootstrap->median_change_percent / 100);
	double low, high;

	if (nr_replicates < MIN_REPLICATES / 2)
		return;
	interval(replicates->means, nr_replicates, centre, nr_blocks, &low, &high);
	bootstrap->low_percent = percent(low);
	bootstrap->high_percent = percent(high);
	interval(replicates->medians, nr_replicates, median, nr_blocks, &low, &high);
	bootstrap->median_low_percent = percent(low);
	bootstrap->median_high_percent = percent(high);
	bootstrap->p_value = p_value(replicates->means, nr_replicates, centre, nr_blocks);
	bootstrap->has_interval = true;
}

static double mean_of(const struct statistics *statistics)
{
	return statistics->nr_samples ? statistics->mean : 0;
}

/* The change itself, from all samples, also those of blocks that were not finished. */
static int measure_change(const struct bench_series *base, const struct bench_series *series,
			  struct bootstrap *bootstrap)
{
	struct statistics before, after;
	int ret;

	ret = statistics_of_series(base, &before);
	if (!ret)
		ret = statistics_of_series(series, &after);
	if (ret)
		return ret;
	/* Nothing stays nothing; nothing to something is no percentage. */
	if (mean_of(&before) == 0 && mean_of(&after) == 0)
		bootstrap->has_change = before.nr_samples && after.nr_samples;
	if (!(mean_of(&before) > 0) || !(mean_of(&after) > 0))
		return 0;
	bootstrap->change_percent = 100 * (after.mean / before.mean - 1);
	bootstrap->median_change_percent = 100 * (after.median / before.median - 1);
	bootstrap->has_change = isfinite(bootstrap->change_percent);
	return 0;
}

/* NULL without memory, where GSL would end the program. */
static gsl_rng *allocate_generator(void)
{
	gsl_error_handler_t *handler = gsl_set_error_handler_off();
	gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_set_error_handler(handler);
	return generator;
}

static int resample(const struct side *base, const struct side *other, size_t nr_base_blocks,
		    size_t nr_other_blocks, bool paired, uint64_t seed, enum bench_better better,
		    struct bootstrap *bootstrap)
{
	size_t nr_most = nr_base_blocks > nr_other_blocks ? nr_base_blocks : nr_other_blocks;
	size_t nr_replicates = MAX_DRAWS / nr_most;
	struct draw draws[2] = { { calloc(nr_base_blocks, sizeof(unsigned int)), nr_base_blocks },
				 { calloc(nr_other_blocks, sizeof(unsigned int)),
				   nr_other_blocks } };
	struct replicates replicates;
	gsl_rng *generator = allocate_generator();
	int ret = -ENOMEM;

	nr_replicates = GSL_MIN(MAX_REPLICATES, GSL_MAX(MIN_REPLICATES, nr_replicates));
	replicates.nr_replicates = nr_replicates;
	replicates.means = calloc(nr_replicates, sizeof(double));
	replicates.medians = calloc(nr_replicates, sizeof(double));
	if (draws[0].times && draws[1].times && generator && replicates.means &&
	    replicates.medians) {
		gsl_rng_set(generator, (unsigned long)seed);
		replicate(base, other, &draws[0], paired ? &draws[0] : &draws[1], generator, better,
			  &replicates);
		summarise(&replicates, bootstrap);
		ret = 0;
	}
	free(replicates.means);
	free(replicates.medians);
	free(draws[0].times);
	free(draws[1].times);
	if (generator)
		gsl_rng_free(generator);
	return ret;
}

/* The values are sorted. */
static bool all_zero(const struct side *before, const struct side *after)
{
	return before->values[before->nr_values - 1].value == 0 &&
	       after->values[after->nr_values - 1].value == 0;
}

int bootstrap_compare(const struct bench_series *base, const struct bench_series *series,
		      bool paired, uint64_t seed, struct bootstrap *ret_bootstrap)
{
	struct bootstrap bootstrap = { .p_value = 1 };
	struct side before = { 0 }, after = { 0 };
	size_t nr_before = 0, nr_after = 0;
	uint32_t *before_numbers, *after_numbers;
	int ret = -ENOMEM;

	before_numbers = block_numbers(base, paired ? series : NULL, &nr_before);
	after_numbers = block_numbers(series, paired ? base : NULL, &nr_after);
	if (before_numbers && after_numbers)
		ret = measure_change(base, series, &bootstrap);
	if (!ret)
		ret = side_init(&before, base, before_numbers, nr_before);
	if (!ret)
		ret = side_init(&after, series, after_numbers, nr_after);
	if (!ret) {
		bootstrap.nr_blocks = GSL_MIN(blocks_with_samples(&before, nr_before),
					      blocks_with_samples(&after, nr_after));
		if (bootstrap.has_change && bootstrap.nr_blocks >= 2 && all_zero(&before, &after))
			bootstrap.has_interval = true;
		else if (bootstrap.has_change && bootstrap.nr_blocks >= 2)
			ret = resample(&before, &after, nr_before, nr_after, paired, seed,
				       series->better, &bootstrap);
	}
	if (!ret)
		*ret_bootstrap = bootstrap;
	side_fini(&before);
	side_fini(&after);
	free(before_numbers);
	free(after_numbers);
	return ret;
}
