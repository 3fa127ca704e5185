/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A result into its JSON. jansson's packing functions consume what they are
 * given also on failure, and fail if it is NULL, so only the outermost value
 * of each function needs to be looked at.
 */
#include <errno.h>

#include "report/result_json.h"

/* Appends @value, which is consumed; NULL counts as a failure. */
static int append(json_t *array, json_t *value)
{
	return json_array_append_new(array, value) ? -ENOMEM : 0;
}

static int set(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) ? -ENOMEM : 0;
}

static json_t *or_drop(json_t *value, int ret)
{
	if (!ret)
		return value;
	json_decref(value);
	return NULL;
}

/* Optional texts are left out when they are not known. */
static int set_known(json_t *object, const char *key, const char *text)
{
	return *text ? set(object, key, json_string(text)) : 0;
}

static json_t *environment_to_json(const struct bench_result *result)
{
	const struct bench_environment *e = &result->environment;
	json_t *notes = json_array();
	json_t *json;
	int ret = 0;

	for (size_t i = 0; !ret && i < result->nr_notes; i++)
		ret = append(notes, json_string(result->notes[i]));
	json = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:s, s:I, s:s, s:f, s:o}",
			 "kernel", e->kernel, "command_line", e->command_line, "config_memcg",
			 e->config_memcg, "cpu", e->cpu, "cpus", (json_int_t)e->cpus,
			 "memory_bytes", (json_int_t)e->memory_bytes, "thp", e->thp, "cgroup",
			 e->cgroup, "compiler", e->compiler, "umemcg_version", e->umemcg_version,
			 "seed", (json_int_t)e->seed, "started", e->started, "load", e->load,
			 "notes", notes);
	if (!ret)
		ret = set_known(json, "aslr", e->aslr);
	if (!ret)
		ret = set_known(json, "governor", e->governor);
	if (!ret)
		ret = set_known(json, "pinning", e->pinning);
	if (!ret)
		ret = set_known(json, "warm_up", e->warm_up);
	if (!ret && e->busy)
		ret = set(json, "busy", json_true());
	return or_drop(json, ret);
}

json_t *params_to_json(const struct bench_param *params, size_t nr_params)
{
	json_t *json = json_object();
	int ret = 0;

	for (size_t i = 0; !ret && i < nr_params; i++) {
		const struct bench_param *param = &params[i];

		ret = set(json, param->name,
			  param->text ? json_string(param->text) : json_integer(param->integer));
	}
	return or_drop(json, ret);
}

static int set_samples(json_t *json, const struct bench_series *series)
{
	json_t *values = json_array(), *blocks = json_array();
	json_t *user_s = json_array(), *system_s = json_array(), *elapsed_s = json_array();
	int ret = 0;

	for (size_t i = 0; !ret && i < series->nr_samples; i++) {
		const struct bench_sample *sample = &series->samples[i];

		ret |= append(values, json_real(sample->value));
		ret |= append(blocks, json_integer(sample->block));
		if (!series->has_times)
			continue;
		ret |= append(user_s, json_real(sample->user_s));
		ret |= append(system_s, json_real(sample->system_s));
		ret |= append(elapsed_s, json_real(sample->elapsed_s));
	}
	ret |= set(json, "samples", values);
	ret |= set(json, "blocks", blocks);
	ret |= set(json, "operations", json_integer((json_int_t)series->operations));
	ret |= set(json, "user_s", user_s);
	ret |= set(json, "system_s", system_s);
	ret |= set(json, "elapsed_s", elapsed_s);
	return ret;
}

static json_t *series_to_json(const struct bench_series *series)
{
	json_t *json;
	int ret = 0;

	json = json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s}", "workload", series->workload,
			 "target", series->target, "meter", series->meter, "config", series->config,
			 "params", params_to_json(series->params, series->nr_params), "metric",
			 series->metric, "unit", series->unit, "better",
			 series->better == BENCH_HIGHER ? "higher" : "lower");
	if (series->title)
		ret = set(json, "title", json_string(series->title));
	if (!ret)
		ret = set_samples(json, series);
	return or_drop(json, ret);
}

static json_t *file_to_json(const struct bench_file *file)
{
	json_t *symbols = json_array();
	int ret = 0;

	for (size_t i = 0; !ret && i < file->nr_symbols; i++)
		ret = append(symbols, json_pack("{s:s, s:I}", "name", file->symbols[i].name,
						"count", (json_int_t)file->symbols[i].count));
	return json_pack("{s:s, s:I, s:o}", "path", file->path, "count", (json_int_t)file->count,
			 "symbols", or_drop(symbols, ret));
}

static json_t *calls_to_json(const struct bench_profile *profile)
{
	json_t *calls = json_array();
	int ret = 0;

	for (size_t i = 0; !ret && i < profile->nr_calls; i++) {
		const struct bench_call *call = &profile->calls[i];

		ret = append(calls,
			     json_pack("{s:s, s:s, s:I, s:I}", "caller", call->caller, "callee",
				       call->callee, "calls", (json_int_t)call->nr_calls, "count",
				       (json_int_t)call->count));
	}
	return or_drop(calls, ret);
}

static json_t *profile_to_json(const struct bench_profile *profile)
{
	json_t *files = json_array(), *json;
	int ret = 0;

	for (size_t i = 0; !ret && i < profile->nr_files; i++)
		ret = append(files, file_to_json(&profile->files[i]));
	json = json_pack("{s:s, s:s, s:s, s:I, s:o}", "workload", profile->workload, "target",
			 profile->target, "config", profile->config, "total",
			 (json_int_t)profile->total, "files", or_drop(files, ret));
	ret = 0;
	if (profile->meter)
		ret = set(json, "meter", json_string(profile->meter));
	if (!ret && profile->part == BENCH_PART_APART)
		ret = set(json, "part", json_string("apart"));
	if (!ret && profile->nr_calls)
		ret = set(json, "calls", calls_to_json(profile));
	if (!ret && profile->nr_params)
		ret = set(json, "params", params_to_json(profile->params, profile->nr_params));
	if (!ret && profile->operations)
		ret = set(json, "operations", json_integer((json_int_t)profile->operations));
	return or_drop(json, ret);
}

int result_to_json(const struct bench_result *result, json_t **ret_json)
{
	json_t *series = json_array(), *profiles = json_array(), *skipped = json_array();
	json_t *json;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < result->nr_series; i++)
		ret = append(series, series_to_json(result->series[i]));
	for (i = 0; !ret && i < result->nr_profiles; i++)
		ret = append(profiles, profile_to_json(result->profiles[i]));
	for (i = 0; !ret && i < result->nr_skipped; i++)
		ret = append(skipped, json_pack("{s:s, s:s}", "what", result->skipped[i].what,
						"why", result->skipped[i].why));
	json = json_pack("{s:i, s:o, s:o, s:o, s:o}", "umemcg_result", BENCH_RESULT_VERSION,
			 "environment", environment_to_json(result), "series", series, "profiles",
			 profiles, "skipped", skipped);
	json = or_drop(json, ret);
	if (!json)
		return -ENOMEM;
	*ret_json = json;
	return 0;
}
