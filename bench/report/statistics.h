/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is said about one array of samples. An undefined value (of no samples,
 * of a division by zero) is NAN; nothing here fails otherwise.
 */
#ifndef UMEMCG_BENCH_REPORT_STATISTICS_H
#define UMEMCG_BENCH_REPORT_STATISTICS_H

#include <stddef.h>

#include "report/result.h"

/* All in the unit of the samples, but for the two percentages. */
struct statistics {
	size_t nr_samples;
	double min;
	double max;
	double mean;   /* arithmetic for times, harmonic for rates */
	double stddev; /* of the samples, n - 1 */
	double median;
	double best95;                 /* the mean of the best 95 % of the samples */
	double coefficient_percent;    /* of variation: stddev of the arithmetic mean */
	double standard_error_percent; /* of the mean, of the mean */
};

/** statistics_mean - the arithmetic mean */
double statistics_mean(const double *samples, size_t nr_samples);

/** statistics_harmonic_mean - n over the sum of reciprocals; 0 if any sample is 0 */
double statistics_harmonic_mean(const double *samples, size_t nr_samples);

/** statistics_geometric_mean - through logarithms; NAN if any sample is not positive */
double statistics_geometric_mean(const double *samples, size_t nr_samples);

/** statistics_stddev - the standard deviation of the samples; NAN for less than two */
double statistics_stddev(const double *samples, size_t nr_samples);

/** statistics_median - the middle one, or the mean of the middle two; NAN without memory */
double statistics_median(const double *samples, size_t nr_samples);

/**
 * statistics_best95 - the mean of the best 95 %
 * @samples:    any order
 * @nr_samples: 0 gives NAN
 * @better:     lower: arithmetic mean of the lowest; higher: harmonic of the highest
 *
 * As mmtests counts: 95 % of the samples rounded down, but at least one.
 *
 * Return: that mean; NAN without memory.
 */
double statistics_best95(const double *samples, size_t nr_samples, enum bench_better better);

/**
 * statistics_standard_error_percent - of the mean, in percent of the mean
 * @samples:    independent of each other: one a block
 * @nr_samples: less than two give NAN
 * @better:     higher: of the harmonic mean, which is, to first order, the
 *              relative standard error of the mean of the reciprocals
 *
 * Return: the percentage; NAN for a mean of 0.
 */
double statistics_standard_error_percent(const double *samples, size_t nr_samples,
					 enum bench_better better);

/**
 * statistics_of_series - all of them
 * @series:         live series, possibly without samples
 * @ret_statistics: filled in
 *
 * Samples of one block are not independent, so the standard error is that of
 * the blocks' means.
 *
 * Return: 0; -ENOMEM.
 */
int statistics_of_series(const struct bench_series *series, struct statistics *ret_statistics);

/**
 * statistics_holm - adjust p values for their number, by Holm's step-down method
 * @p_values: replaced by the adjusted ones; NANs are left alone and not counted
 * @nr_p_values: how many
 *
 * Return: 0; -ENOMEM.
 */
int statistics_holm(double *p_values, size_t nr_p_values);

#endif
