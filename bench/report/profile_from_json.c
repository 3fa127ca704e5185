/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile out of its JSON. What came later than the first result files is optional. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "report/fields.h"
#include "report/result_json.h"

static int read_file(struct bench_profile *profile, const struct fields *fields)
{
	struct bench_file *file;
	json_t *symbols;
	const char *name;
	int64_t count;
	int ret;

	ret = fields_name(fields, "path", &name);
	if (!ret)
		ret = fields_integer(fields, "count", INT64_MAX, &count);
	if (!ret)
		ret = fields_array(fields, "symbols", false, &symbols);
	if (!ret)
		ret = profile_add_file(profile, name, &file);
	if (ret)
		return ret;
	file->count = (uint64_t)count;
	for (size_t i = 0; !ret && i < json_array_size(symbols); i++) {
		struct fields symbol;

		ret = fields_enter(fields, "symbols", symbols, i, &symbol);
		if (!ret)
			ret = fields_name(&symbol, "name", &name);
		if (!ret)
			ret = fields_integer(&symbol, "count", INT64_MAX, &count);
		if (!ret)
			ret = file_add_symbol(file, name, (uint64_t)count);
	}
	return ret;
}

static int read_files(struct bench_profile *profile, const struct fields *fields)
{
	json_t *files;
	int ret;

	ret = fields_array(fields, "files", false, &files);
	for (size_t i = 0; !ret && i < json_array_size(files); i++) {
		struct fields file;

		ret = fields_enter(fields, "files", files, i, &file);
		if (!ret)
			ret = read_file(profile, &file);
	}
	return ret;
}

static int read_call(struct bench_profile *profile, const struct fields *fields)
{
	const char *caller, *callee;
	int64_t nr_calls, count;
	int ret;

	ret = fields_name(fields, "caller", &caller);
	if (!ret)
		ret = fields_name(fields, "callee", &callee);
	if (!ret)
		ret = fields_integer(fields, "calls", INT64_MAX, &nr_calls);
	if (!ret)
		ret = fields_integer(fields, "count", INT64_MAX, &count);
	return ret ? ret
		   : profile_add_call(profile, caller, callee, (uint64_t)nr_calls, (uint64_t)count);
}

static int read_calls(struct bench_profile *profile, const struct fields *fields)
{
	json_t *calls;
	int ret;

	ret = fields_array(fields, "calls", true, &calls);
	for (size_t i = 0; !ret && i < json_array_size(calls); i++) {
		struct fields call;

		ret = fields_enter(fields, "calls", calls, i, &call);
		if (!ret)
			ret = read_call(profile, &call);
	}
	return ret;
}

static int read_part(struct bench_profile *profile, const struct fields *fields)
{
	const char *part;
	int ret;

	ret = fields_text(fields, "part", true, &part);
	if (ret || !part)
		return ret;
	if (strcmp(part, "run") && strcmp(part, "apart"))
		return fields_fail(fields, "part", "\"run\" or \"apart\"");
	profile_set_part(profile, strcmp(part, "run") ? BENCH_PART_APART : BENCH_PART_RUN);
	return 0;
}

static int read_meter(struct bench_profile *profile, const struct fields *fields)
{
	const char *meter;
	int ret;

	ret = fields_text(fields, "meter", true, &meter);
	if (ret || !meter)
		return ret;
	ret = profile_set_meter(profile, meter);
	return ret == -EINVAL ? fields_fail(fields, "meter", "\"time\" or \"exact\"") : ret;
}

static int read_operations(struct bench_profile *profile, const struct fields *fields)
{
	int64_t operations;
	int ret;

	if (!json_object_get(fields->object, "operations"))
		return 0;
	ret = fields_integer(fields, "operations", INT64_MAX, &operations);
	return ret ? ret : profile_set_operations(profile, (uint64_t)operations);
}

int profile_from_json(struct bench_result *result, const struct fields *fields)
{
	const char *workload, *target, *config;
	struct bench_profile *profile;
	int64_t total;
	int ret;

	ret = fields_name(fields, "workload", &workload);
	if (!ret)
		ret = fields_name(fields, "target", &target);
	if (!ret)
		ret = fields_name(fields, "config", &config);
	if (!ret)
		ret = fields_integer(fields, "total", INT64_MAX, &total);
	if (ret)
		return ret;
	ret = result_add_profile(result, workload, target, config, (uint64_t)total, &profile);
	if (ret == -EINVAL)
		return fields_fail(fields, "target", "\"lib\" or \"kernel\"");
	if (!ret && json_object_get(fields->object, "params"))
		ret = params_from_json(fields, &profile->params, &profile->nr_params);
	if (!ret)
		ret = read_part(profile, fields);
	if (!ret)
		ret = read_meter(profile, fields);
	if (!ret)
		ret = read_operations(profile, fields);
	if (!ret)
		ret = read_files(profile, fields);
	return ret ? ret : read_calls(profile, fields);
}
