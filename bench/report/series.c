/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>

#include "array.h"
#include "report/params.h"
#include "report/result.h"

int series_set_param_integer(struct bench_series *series, const char *name, int64_t value)
{
	return params_set_integer(&series->params, &series->nr_params, name, value);
}

int series_set_param_text(struct bench_series *series, const char *name, const char *value)
{
	return params_set_text(&series->params, &series->nr_params, name, value);
}

static bool is_measurement(double value)
{
	return isfinite(value) && value >= 0;
}

/* All three times, or none. */
static int sample_has_times(const struct bench_sample *sample, bool *ret_has_times)
{
	bool none = sample->user_s == BENCH_NOT_MEASURED &&
		    sample->system_s == BENCH_NOT_MEASURED &&
		    sample->elapsed_s == BENCH_NOT_MEASURED;

	if (!none && (!is_measurement(sample->user_s) || !is_measurement(sample->system_s) ||
		      !is_measurement(sample->elapsed_s)))
		return -EINVAL;
	*ret_has_times = !none;
	return 0;
}

int series_add_sample(struct bench_series *series, const struct bench_sample *sample)
{
	struct bench_sample *samples;
	bool has_times;

	if (!is_measurement(sample->value) || sample_has_times(sample, &has_times))
		return -EINVAL;
	if (series->nr_samples && has_times != series->has_times)
		return -EINVAL;
	if (sample->operations > INT64_MAX - series->operations)
		return -EINVAL;
	samples = array_grown(series->samples, series->nr_samples, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	series->samples = samples;
	series->samples[series->nr_samples++] = *sample;
	series->operations += sample->operations;
	series->has_times = has_times;
	return 0;
}
