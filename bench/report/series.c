/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/array.h"
#include "report/result.h"
#include "report/text.h"

/* Finds @name, or the place where it belongs: parameters stay sorted by name. */
static bool param_find(const struct bench_series *series, const char *name, size_t *ret_index)
{
	size_t i;

	for (i = 0; i < series->nr_params; i++) {
		int order = strcmp(series->params[i].name, name);

		if (order >= 0) {
			*ret_index = i;
			return order == 0;
		}
	}
	*ret_index = i;
	return false;
}

/* Takes over @param's strings on success. */
static int param_set(struct bench_series *series, struct bench_param *param)
{
	struct bench_param *params;
	size_t i;

	if (param_find(series, param->name, &i)) {
		free(series->params[i].name);
		free(series->params[i].text);
		series->params[i] = *param;
		return 0;
	}
	params = array_grown(series->params, series->nr_params, sizeof(*params));
	if (!params)
		return -ENOMEM;
	memmove(&params[i + 1], &params[i], (series->nr_params - i) * sizeof(*params));
	params[i] = *param;
	series->params = params;
	series->nr_params++;
	return 0;
}

int series_set_param_integer(struct bench_series *series, const char *name, int64_t value)
{
	struct bench_param param = { .integer = value };
	int ret;

	ret = text_copy_name(name, &param.name);
	if (!ret)
		ret = param_set(series, &param);
	if (ret)
		free(param.name);
	return ret;
}

int series_set_param_text(struct bench_series *series, const char *name, const char *value)
{
	struct bench_param param = { 0 };
	int ret;

	ret = text_copy_name(name, &param.name);
	if (!ret)
		ret = text_copy_line(value, &param.text);
	if (!ret)
		ret = param_set(series, &param);
	if (ret) {
		free(param.name);
		free(param.text);
	}
	return ret;
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
