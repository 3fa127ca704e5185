/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/statistics.h"

#include <errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double statistics_mean(const double *samples, size_t nr_samples)
{
	return nr_samples ? gsl_stats_mean(samples, 1, nr_samples) : NAN;
}

double statistics_harmonic_mean(const double *samples, size_t nr_samples)
{
	double sum = 0;

	if (!nr_samples)
		return NAN;
	/* 1/0 is infinite, and n over infinity is the 0 that it should be. */
	for (size_t i = 0; i < nr_samples; i++)
		sum += 1 / samples[i];
	return (double)nr_samples / sum;
}

double statistics_geometric_mean(const double *samples, size_t nr_samples)
{
	double sum = 0;

	if (!nr_samples)
		return NAN;
	for (size_t i = 0; i < nr_samples; i++) {
		if (!(samples[i] > 0))
			return NAN;
		sum += log(samples[i]);
	}
	return exp(sum / (double)nr_samples);
}

double statistics_stddev(const double *samples, size_t nr_samples)
{
	return nr_samples >= 2 ? gsl_stats_sd(samples, 1, nr_samples) : NAN;
}

/* A sorted copy, for free(); NULL without memory. */
static double *sorted(const double *samples, size_t nr_samples)
{
	double *copy = malloc(nr_samples * sizeof(*copy));

	if (copy) {
		memcpy(copy, samples, nr_samples * sizeof(*copy));
		gsl_sort(copy, 1, nr_samples);
	}
	return copy;
}

double statistics_median(const double *samples, size_t nr_samples)
{
	double *in_order, median;

	if (!nr_samples)
		return NAN;
	in_order = sorted(samples, nr_samples);
	if (!in_order)
		return NAN;
	median = gsl_stats_median_from_sorted_data(in_order, 1, nr_samples);
	free(in_order);
	return median;
}

double statistics_best95(const double *samples, size_t nr_samples, enum bench_better better)
{
	size_t nr_best = nr_samples * 95 / 100;
	double *in_order, mean;

	if (!nr_samples)
		return NAN;
	if (!nr_best)
		nr_best = 1;
	in_order = sorted(samples, nr_samples);
	if (!in_order)
		return NAN;
	if (better == BENCH_LOWER)
		mean = statistics_mean(in_order, nr_best);
	else
		mean = statistics_harmonic_mean(in_order + nr_samples - nr_best, nr_best);
	free(in_order);
	return mean;
}

static double relative_error_percent(double sum, double sum_of_squares, size_t nr_samples)
{
	double mean = sum / (double)nr_samples;
	double variance = sum_of_squares / (double)(nr_samples - 1);

	return mean > 0 ? 100 * sqrt(variance / (double)nr_samples) / mean : NAN;
}

double statistics_standard_error_percent(const double *samples, size_t nr_samples,
					 enum bench_better better)
{
	double sum = 0, sum_of_squares = 0, mean;
	size_t i;

	if (nr_samples < 2)
		return NAN;
	for (i = 0; i < nr_samples; i++)
		sum += better == BENCH_LOWER ? samples[i] : 1 / samples[i];
	mean = sum / (double)nr_samples;
	for (i = 0; i < nr_samples; i++)
		sum_of_squares +=
			gsl_pow_2((better == BENCH_LOWER ? samples[i] : 1 / samples[i]) - mean);
	return relative_error_percent(sum, sum_of_squares, nr_samples);
}

static int by_block(const void *a, const void *b)
{
	const struct bench_sample *left = a, *right = b;

	return (left->block > right->block) - (left->block < right->block);
}

/* The mean of each block's samples, of the kind that @better asks for. */
static int block_means(const struct bench_series *series, double *means, size_t *ret_nr_blocks)
{
	size_t nr_samples = series->nr_samples, nr_blocks = 0, end;
	struct bench_sample *samples = malloc(nr_samples * sizeof(*samples));

	if (!samples)
		return -ENOMEM;
	memcpy(samples, series->samples, nr_samples * sizeof(*samples));
	qsort(samples, nr_samples, sizeof(*samples), by_block);
	for (size_t start = 0; start < nr_samples; start = end) {
		double sum = 0, n;

		for (end = start; end < nr_samples && samples[end].block == samples[start].block;
		     end++)
			sum += series->better == BENCH_LOWER ? samples[end].value
							     : 1 / samples[end].value;
		n = (double)(end - start);
		means[nr_blocks++] = series->better == BENCH_LOWER ? sum / n : n / sum;
	}
	free(samples);
	*ret_nr_blocks = nr_blocks;
	return 0;
}

int statistics_of_series(const struct bench_series *series, struct statistics *ret_statistics)
{
	const struct statistics none = { 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	struct statistics all = { .nr_samples = series->nr_samples };
	size_t n = series->nr_samples, nr_blocks;
	double *values;
	int ret;

	if (!n) {
		*ret_statistics = none;
		return 0;
	}
	values = malloc(n * sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		values[i] = series->samples[i].value;
	gsl_stats_minmax(&all.min, &all.max, values, 1, n);
	all.mean = series->better == BENCH_LOWER ? statistics_mean(values, n)
						 : statistics_harmonic_mean(values, n);
	all.stddev = statistics_stddev(values, n);
	all.median = statistics_median(values, n);
	all.best95 = statistics_best95(values, n, series->better);
	all.coefficient_percent = 100 * all.stddev / statistics_mean(values, n);
	ret = block_means(series, values, &nr_blocks);
	if (!ret) {
		all.standard_error_percent =
			statistics_standard_error_percent(values, nr_blocks, series->better);
		*ret_statistics = all;
	}
	free(values);
	return ret;
}

int statistics_holm(double *p_values, size_t nr_p_values)
{
	size_t *order = malloc((nr_p_values + 1) * sizeof(*order));
	size_t nr_counted = 0, i;
	double largest = 0;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < nr_p_values; i++) {
		size_t at = nr_counted;

		if (isnan(p_values[i]))
			continue;
		/* Insertion: a report has some dozens of comparisons. */
		for (; at > 0 && p_values[order[at - 1]] > p_values[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
		nr_counted++;
	}
	for (i = 0; i < nr_counted; i++) {
		largest = fmax(largest, fmin(1, p_values[order[i]] * (double)(nr_counted - i)));
		p_values[order[i]] = largest;
	}
	free(order);
	return 0;
}
