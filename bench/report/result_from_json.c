/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A result out of its JSON. Members that are not named here are skipped: what may
 * be skipped can be added to the format without a new version.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "report/fields.h"
#include "report/params.h"
#include "report/result_json.h"

static int read_environment(struct bench_result *result, const struct fields *top)
{
	struct fields fields = *top;
	struct bench_environment environment = { 0 };
	const struct {
		const char *key;
		bool optional;
		const char **to;
	} texts[] = {
		{ "kernel", false, &environment.kernel },
		{ "command_line", false, &environment.command_line },
		{ "config_memcg", false, &environment.config_memcg },
		{ "cpu", false, &environment.cpu },
		{ "thp", false, &environment.thp },
		{ "cgroup", false, &environment.cgroup },
		{ "compiler", false, &environment.compiler },
		{ "umemcg_version", false, &environment.umemcg_version },
		{ "started", false, &environment.started },
		{ "aslr", true, &environment.aslr },
		{ "governor", true, &environment.governor },
		{ "pinning", true, &environment.pinning },
		{ "warm_up", true, &environment.warm_up },
	};
	int64_t cpus, memory_bytes, seed;
	json_t *notes;
	size_t i;
	int ret;

	ret = fields_object(top, "environment", &fields.object);
	if (ret)
		return ret;
	strcpy(fields.where, "environment");
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ret = fields_text(&fields, texts[i].key, texts[i].optional, texts[i].to);
		if (ret)
			return ret;
	}
	ret = fields_integer(&fields, "cpus", UINT32_MAX, &cpus);
	if (!ret)
		ret = fields_integer(&fields, "memory_bytes", INT64_MAX, &memory_bytes);
	if (!ret)
		ret = fields_integer(&fields, "seed", INT64_MAX, &seed);
	if (!ret)
		ret = fields_number(&fields, "load", &environment.load);
	if (!ret)
		ret = fields_flag(&fields, "busy", &environment.busy);
	if (!ret)
		ret = fields_array(&fields, "notes", false, &notes);
	if (ret)
		return ret;
	environment.cpus = (uint32_t)cpus;
	environment.memory_bytes = (uint64_t)memory_bytes;
	environment.seed = (uint64_t)seed;
	ret = result_set_environment(result, &environment);
	for (i = 0; !ret && i < json_array_size(notes); i++) {
		const char *note = json_string_value(json_array_get(notes, i));

		ret = note ? result_add_note(result, note) : -EINVAL;
		if (ret == -EINVAL)
			return fields_fail(&fields, "notes", "an array of printable lines");
	}
	return ret;
}

int params_from_json(const struct fields *fields, struct bench_param **params, size_t *nr_params)
{
	json_t *object, *value;
	const char *name;
	int ret;

	ret = fields_object(fields, "params", &object);
	if (ret)
		return ret;
	json_object_foreach(object, name, value)
	{
		if (json_is_integer(value))
			ret = params_set_integer(params, nr_params, name,
						 json_integer_value(value));
		else if (json_is_string(value))
			ret = params_set_text(params, nr_params, name, json_string_value(value));
		else
			ret = -EINVAL;
		if (ret == -EINVAL)
			return fields_fail(fields, "params", "an object of integers and texts");
		if (ret)
			return ret;
	}
	return 0;
}

/* The parallel arrays of a series: one entry a sample. */
struct columns {
	json_t *values;
	json_t *blocks; /* NULL: sample i was run in block i */
	json_t *user_s; /* these three are as long as values, or empty */
	json_t *system_s;
	json_t *elapsed_s;
};

static int read_columns(const struct fields *fields, struct columns *columns)
{
	const struct {
		const char *key;
		json_t **to;
	} times[] = {
		{ "user_s", &columns->user_s },
		{ "system_s", &columns->system_s },
		{ "elapsed_s", &columns->elapsed_s },
	};
	size_t nr_samples, nr_times;
	int ret;

	ret = fields_array(fields, "samples", false, &columns->values);
	if (!ret)
		ret = fields_array(fields, "blocks", true, &columns->blocks);
	for (size_t i = 0; !ret && i < 3; i++)
		ret = fields_array(fields, times[i].key, false, times[i].to);
	if (ret)
		return ret;
	nr_samples = json_array_size(columns->values);
	nr_times = json_array_size(columns->user_s);
	if (columns->blocks && json_array_size(columns->blocks) != nr_samples)
		return fields_fail(fields, "blocks", "as long as samples");
	for (size_t i = 0; i < 3; i++) {
		size_t nr_entries = json_array_size(*times[i].to);

		if (nr_entries != nr_times || (nr_entries && nr_entries != nr_samples))
			return fields_fail(fields, times[i].key,
					   "as long as samples, or empty in all three");
	}
	return 0;
}

static double time_of(json_t *times, size_t i)
{
	return json_array_size(times) ? json_number_value(json_array_get(times, i))
				      : BENCH_NOT_MEASURED;
}

static bool is_time(json_t *times, size_t i)
{
	return !json_array_size(times) || (json_is_number(json_array_get(times, i)) &&
					   json_number_value(json_array_get(times, i)) >= 0);
}

static int read_samples(struct bench_series *series, const struct fields *fields)
{
	struct columns columns = { 0 };
	int ret;

	ret = read_columns(fields, &columns);
	for (size_t i = 0; !ret && i < json_array_size(columns.values); i++) {
		json_t *value = json_array_get(columns.values, i);
		json_t *block = json_array_get(columns.blocks, i);
		struct bench_sample sample = {
			.block = (uint32_t)i,
			.value = json_number_value(value),
			.user_s = time_of(columns.user_s, i),
			.system_s = time_of(columns.system_s, i),
			.elapsed_s = time_of(columns.elapsed_s, i),
		};

		if (columns.blocks) {
			if (!json_is_integer(block) || json_integer_value(block) < 0 ||
			    json_integer_value(block) > UINT32_MAX)
				return fields_fail(fields, "blocks", "an array of block numbers");
			sample.block = (uint32_t)json_integer_value(block);
		}
		if (!json_is_number(value))
			return fields_fail(fields, "samples", "an array of numbers, at least 0");
		if (!is_time(columns.user_s, i) || !is_time(columns.system_s, i) ||
		    !is_time(columns.elapsed_s, i))
			return fields_fail(fields, "user_s, system_s, elapsed_s",
					   "arrays of numbers, at least 0");
		ret = series_add_sample(series, &sample);
		if (ret == -EINVAL)
			return fields_fail(fields, "samples", "an array of numbers, at least 0");
	}
	return ret;
}

static int read_series(struct bench_result *result, const struct fields *fields)
{
	struct bench_series_name name = { 0 };
	const struct {
		const char *key;
		const char **to;
	} names[] = {
		{ "workload", &name.workload }, { "target", &name.target },
		{ "meter", &name.meter },       { "config", &name.config },
		{ "metric", &name.metric },     { "unit", &name.unit },
	};
	struct bench_series *series;
	int64_t operations;
	const char *better;
	int ret;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ret = fields_name(fields, names[i].key, names[i].to);
		if (ret)
			return ret;
	}
	ret = fields_name(fields, "better", &better);
	if (!ret && json_object_get(fields->object, "title"))
		ret = fields_name(fields, "title", &name.title);
	if (!ret)
		ret = fields_integer(fields, "operations", INT64_MAX, &operations);
	if (ret)
		return ret;
	if (strcmp(better, "lower") && strcmp(better, "higher"))
		return fields_fail(fields, "better", "\"lower\" or \"higher\"");
	name.better = strcmp(better, "higher") ? BENCH_LOWER : BENCH_HIGHER;
	ret = result_add_series(result, &name, &series);
	if (ret == -EINVAL)
		return fields_fail(fields, "target, meter",
				   "\"lib\" or \"kernel\", \"time\" or \"exact\"");
	if (ret)
		return ret;
	ret = params_from_json(fields, &series->params, &series->nr_params);
	if (!ret)
		ret = read_samples(series, fields);
	series->operations = (uint64_t)operations;
	return ret;
}

static int read_skipped(struct bench_result *result, const struct fields *fields)
{
	const char *what, *why;
	int ret;

	ret = fields_name(fields, "what", &what);
	if (!ret)
		ret = fields_text(fields, "why", false, &why);
	return ret ? ret : result_add_skipped(result, what, why);
}

/* Reads each object of the array at @key with @read_one. */
static int read_array(struct bench_result *result, const struct fields *top, const char *key,
		      int (*read_one)(struct bench_result *, const struct fields *))
{
	json_t *array;
	int ret;

	ret = fields_array(top, key, false, &array);
	for (size_t i = 0; !ret && i < json_array_size(array); i++) {
		struct fields element;

		ret = fields_enter(top, key, array, i, &element);
		if (!ret)
			ret = read_one(result, &element);
	}
	return ret;
}

static int read_version(const struct fields *top)
{
	json_t *version = json_object_get(top->object, "umemcg_result");

	if (!version && json_object_get(top->object, "umemcg_comparison")) {
		snprintf(top->error->text, sizeof(top->error->text),
			 "%.512s: a comparison of several results; accepted are these results' own "
			 "files",
			 top->input);
		return -EINVAL;
	}
	if (!json_is_integer(version) || json_integer_value(version) < 1) {
		snprintf(top->error->text, sizeof(top->error->text),
			 "%.512s: not a result file (no umemcg_result version in it); %s",
			 top->input, FIELDS_ACCEPTED);
		return -EINVAL;
	}
	if (json_integer_value(version) > BENCH_RESULT_VERSION) {
		snprintf(top->error->text, sizeof(top->error->text),
			 "%.512s: version %lld is newer than this program; "
			 "accepted are result files up to version %d",
			 top->input, (long long)json_integer_value(version), BENCH_RESULT_VERSION);
		return -EINVAL;
	}
	return 0;
}

static int read_top(struct bench_result *result, const struct fields *top)
{
	int ret;

	ret = read_version(top);
	if (!ret)
		ret = read_environment(result, top);
	if (!ret)
		ret = read_array(result, top, "series", read_series);
	if (!ret)
		ret = read_array(result, top, "profiles", profile_from_json);
	if (!ret)
		ret = read_array(result, top, "skipped", read_skipped);
	return ret;
}

int result_from_json(json_t *json, const char *name, struct bench_result **ret_result,
		     struct report_error *error)
{
	const struct fields top = { .input = name, .object = json, .error = error };
	struct bench_result *result;
	int ret;

	ret = result_create(&result);
	if (ret)
		return ret;
	ret = read_top(result, &top);
	if (ret) {
		result_destroy(result);
		return ret;
	}
	*ret_result = result;
	return 0;
}
