/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "report/params.h"
#include "report/text.h"

/* The strings of an environment, so that each is copied and freed alike. */
static const size_t environment_strings[] = {
	offsetof(struct bench_environment, kernel),
	offsetof(struct bench_environment, command_line),
	offsetof(struct bench_environment, config_memcg),
	offsetof(struct bench_environment, cpu),
	offsetof(struct bench_environment, thp),
	offsetof(struct bench_environment, cgroup),
	offsetof(struct bench_environment, compiler),
	offsetof(struct bench_environment, umemcg_version),
	offsetof(struct bench_environment, started),
	offsetof(struct bench_environment, aslr),
	offsetof(struct bench_environment, governor),
	offsetof(struct bench_environment, pinning),
	offsetof(struct bench_environment, warm_up),
};
#define NR_ENVIRONMENT_STRINGS (sizeof(environment_strings) / sizeof(environment_strings[0]))

static char **environment_string(struct bench_environment *environment, size_t i)
{
	return (char **)((char *)environment + environment_strings[i]);
}

static void environment_fini(struct bench_environment *environment)
{
	for (size_t i = 0; i < NR_ENVIRONMENT_STRINGS; i++)
		free(*environment_string(environment, i));
}

/* Numbers are copied; every string becomes a copy of its own. */
static int environment_copy(const struct bench_environment *environment,
			    struct bench_environment *ret_copy)
{
	struct bench_environment copy = *environment;
	size_t i;
	int ret;

	for (i = 0; i < NR_ENVIRONMENT_STRINGS; i++)
		*environment_string(&copy, i) = NULL;
	for (i = 0; i < NR_ENVIRONMENT_STRINGS; i++) {
		const char *from =
			*(char *const *)((const char *)environment + environment_strings[i]);

		ret = text_copy_line(from, environment_string(&copy, i));
		if (ret) {
			environment_fini(&copy);
			return ret;
		}
	}
	*ret_copy = copy;
	return 0;
}

int result_create(struct bench_result **ret_result)
{
	struct bench_result *result = calloc(1, sizeof(*result));
	const struct bench_environment unknown = { 0 };
	int ret;

	if (!result)
		return -ENOMEM;
	ret = environment_copy(&unknown, &result->environment);
	if (ret) {
		free(result);
		return ret;
	}
	*ret_result = result;
	return 0;
}

static void series_destroy(struct bench_series *series)
{
	if (!series)
		return;
	params_destroy(series->params, series->nr_params);
	free(series->samples);
	free(series->workload);
	free(series->target);
	free(series->meter);
	free(series->config);
	free(series->metric);
	free(series->unit);
	free(series->title);
	free(series);
}

static void profile_destroy(struct bench_profile *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; i < profile->nr_files; i++) {
		struct bench_file *file = &profile->files[i];

		for (size_t j = 0; j < file->nr_symbols; j++)
			free(file->symbols[j].name);
		free(file->symbols);
		free(file->path);
	}
	for (size_t i = 0; i < profile->nr_calls; i++) {
		free(profile->calls[i].caller);
		free(profile->calls[i].callee);
	}
	params_destroy(profile->params, profile->nr_params);
	free(profile->calls);
	free(profile->files);
	free(profile->meter);
	free(profile->workload);
	free(profile->target);
	free(profile->config);
	free(profile);
}

void result_destroy(struct bench_result *result)
{
	size_t i;

	if (!result)
		return;
	environment_fini(&result->environment);
	for (i = 0; i < result->nr_notes; i++)
		free(result->notes[i]);
	for (i = 0; i < result->nr_series; i++)
		series_destroy(result->series[i]);
	for (i = 0; i < result->nr_profiles; i++)
		profile_destroy(result->profiles[i]);
	for (i = 0; i < result->nr_skipped; i++) {
		free(result->skipped[i].what);
		free(result->skipped[i].why);
	}
	free(result->notes);
	free(result->series);
	free(result->profiles);
	free(result->skipped);
	free(result);
}

int result_set_environment(struct bench_result *result, const struct bench_environment *environment)
{
	struct bench_environment copy;
	int ret;

	if (environment->memory_bytes > INT64_MAX || environment->seed > INT64_MAX)
		return -EINVAL;
	if (!isfinite(environment->load) || environment->load < 0)
		return -EINVAL;
	ret = environment_copy(environment, &copy);
	if (ret)
		return ret;
	environment_fini(&result->environment);
	result->environment = copy;
	return 0;
}

void result_set_busy(struct bench_result *result)
{
	result->environment.busy = true;
}

int result_add_note(struct bench_result *result, const char *note)
{
	char **notes = array_grown(result->notes, result->nr_notes, sizeof(*notes));
	int ret;

	if (!notes)
		return -ENOMEM;
	result->notes = notes;
	ret = text_copy_line(note, &notes[result->nr_notes]);
	if (!ret)
		result->nr_notes++;
	return ret;
}

static bool is_one_of(const char *name, const char *one, const char *other)
{
	return name && (strcmp(name, one) == 0 || strcmp(name, other) == 0);
}

/* Every pointer lands in @series, which the caller destroys on failure. */
static int series_name(struct bench_series *series, const struct bench_series_name *name)
{
	const struct {
		const char *from;
		char **to;
	} names[] = {
		{ name->workload, &series->workload }, { name->target, &series->target },
		{ name->meter, &series->meter },       { name->config, &series->config },
		{ name->metric, &series->metric },     { name->unit, &series->unit },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int ret = text_copy_name(names[i].from, names[i].to);

		if (ret)
			return ret;
	}
	series->better = name->better;
	return name->title ? text_copy_name(name->title, &series->title) : 0;
}

int result_add_series(struct bench_result *result, const struct bench_series_name *name,
		      struct bench_series **ret_series)
{
	struct bench_series **all, *series;
	int ret;

	if (!is_one_of(name->target, "lib", "kernel") || !is_one_of(name->meter, "time", "exact"))
		return -EINVAL;
	if (result->nr_series == BENCH_MAX_SERIES)
		return -E2BIG;
	all = array_grown(result->series, result->nr_series, sizeof(*all));
	if (!all)
		return -ENOMEM;
	result->series = all;
	series = calloc(1, sizeof(*series));
	if (!series)
		return -ENOMEM;
	ret = series_name(series, name);
	if (ret) {
		series_destroy(series);
		return ret;
	}
	all[result->nr_series++] = series;
	*ret_series = series;
	return 0;
}

static bool matches(const char *pattern, const char *name)
{
	return !pattern || strcmp(pattern, name) == 0;
}

struct bench_series *result_find_series(const struct bench_result *result,
					const struct bench_series_name *pattern)
{
	for (size_t i = 0; i < result->nr_series; i++) {
		struct bench_series *series = result->series[i];

		if (matches(pattern->workload, series->workload) &&
		    matches(pattern->target, series->target) &&
		    matches(pattern->meter, series->meter) &&
		    matches(pattern->config, series->config) &&
		    matches(pattern->metric, series->metric) &&
		    matches(pattern->unit, series->unit))
			return series;
	}
	return NULL;
}

int result_add_profile(struct bench_result *result, const char *workload, const char *target,
		       const char *config, uint64_t total, struct bench_profile **ret_profile)
{
	struct bench_profile **all, *profile;
	int ret;

	if (!is_one_of(target, "lib", "kernel") || total > INT64_MAX)
		return -EINVAL;
	all = array_grown(result->profiles, result->nr_profiles, sizeof(*all));
	if (!all)
		return -ENOMEM;
	result->profiles = all;
	profile = calloc(1, sizeof(*profile));
	if (!profile)
		return -ENOMEM;
	profile->total = total;
	ret = text_copy_name(workload, &profile->workload);
	if (!ret)
		ret = text_copy_name(target, &profile->target);
	if (!ret)
		ret = text_copy_name(config, &profile->config);
	if (ret) {
		profile_destroy(profile);
		return ret;
	}
	all[result->nr_profiles++] = profile;
	*ret_profile = profile;
	return 0;
}

int result_add_skipped(struct bench_result *result, const char *what, const char *why)
{
	struct bench_skipped *all, one = { 0 };
	int ret;

	all = array_grown(result->skipped, result->nr_skipped, sizeof(*all));
	if (!all)
		return -ENOMEM;
	result->skipped = all;
	ret = text_copy_name(what, &one.what);
	if (!ret)
		ret = text_copy_line(why, &one.why);
	if (ret) {
		free(one.what);
		return ret;
	}
	all[result->nr_skipped++] = one;
	return 0;
}
