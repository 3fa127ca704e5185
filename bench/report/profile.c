/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "report/params.h"
#include "report/result.h"
#include "report/text.h"

int profile_set_param_integer(struct bench_profile *profile, const char *name, int64_t value)
{
	return params_set_integer(&profile->params, &profile->nr_params, name, value);
}

int profile_set_param_text(struct bench_profile *profile, const char *name, const char *value)
{
	return params_set_text(&profile->params, &profile->nr_params, name, value);
}

int profile_set_meter(struct bench_profile *profile, const char *meter)
{
	char *copy;
	int ret;

	if (!meter || (strcmp(meter, "time") && strcmp(meter, "exact")))
		return -EINVAL;
	ret = text_copy_name(meter, &copy);
	if (ret)
		return ret;
	free(profile->meter);
	profile->meter = copy;
	return 0;
}

void profile_set_part(struct bench_profile *profile, enum bench_part part)
{
	profile->part = part;
}

int profile_set_operations(struct bench_profile *profile, uint64_t operations)
{
	if (operations > INT64_MAX)
		return -EINVAL;
	profile->operations = operations;
	return 0;
}

int profile_add_file(struct bench_profile *profile, const char *path, struct bench_file **ret_file)
{
	struct bench_file *files;
	int ret;

	files = array_grown(profile->files, profile->nr_files, sizeof(*files));
	if (!files)
		return -ENOMEM;
	profile->files = files;
	files[profile->nr_files] = (struct bench_file){ 0 };
	ret = text_copy_name(path, &files[profile->nr_files].path);
	if (ret)
		return ret;
	*ret_file = &files[profile->nr_files++];
	return 0;
}

int file_add_symbol(struct bench_file *file, const char *name, uint64_t count)
{
	struct bench_symbol *symbols;
	int ret;

	if (count > INT64_MAX)
		return -EINVAL;
	symbols = array_grown(file->symbols, file->nr_symbols, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	file->symbols = symbols;
	symbols[file->nr_symbols] = (struct bench_symbol){ .count = count };
	ret = text_copy_name(name, &symbols[file->nr_symbols].name);
	if (!ret)
		file->nr_symbols++;
	return ret;
}

/* Meters add symbols file by file, so the last one is looked at first. */
static struct bench_file *file_find(struct bench_profile *profile, const char *path)
{
	for (size_t i = profile->nr_files; i-- > 0;) {
		if (strcmp(profile->files[i].path, path) == 0)
			return &profile->files[i];
	}
	return NULL;
}

static struct bench_symbol *symbol_find(struct bench_file *file, const char *name)
{
	for (size_t i = file->nr_symbols; i-- > 0;) {
		if (strcmp(file->symbols[i].name, name) == 0)
			return &file->symbols[i];
	}
	return NULL;
}

int profile_add_symbol(struct bench_profile *profile, const char *path, const char *symbol,
		       uint64_t count)
{
	struct bench_symbol *found;
	struct bench_file *file;
	int ret;

	if (!symbol || !*symbol || !text_is_printable(symbol))
		return -EINVAL;
	file = file_find(profile, path);
	if (!file) {
		ret = profile_add_file(profile, path, &file);
		if (ret)
			return ret;
	}
	if (count > INT64_MAX - file->count)
		return -ERANGE;
	found = symbol_find(file, symbol);
	if (found) {
		found->count += count;
	} else {
		ret = file_add_symbol(file, symbol, count);
		if (ret)
			return ret;
	}
	file->count += count;
	return 0;
}

int profile_add_call(struct bench_profile *profile, const char *caller, const char *callee,
		     uint64_t nr_calls, uint64_t count)
{
	struct bench_call *calls, call = { .nr_calls = nr_calls, .count = count };
	int ret;

	if (nr_calls > INT64_MAX || count > INT64_MAX)
		return -EINVAL;
	calls = array_grown(profile->calls, profile->nr_calls, sizeof(*calls));
	if (!calls)
		return -ENOMEM;
	profile->calls = calls;
	ret = text_copy_name(caller, &call.caller);
	if (!ret)
		ret = text_copy_name(callee, &call.callee);
	if (ret) {
		free(call.caller);
		return ret;
	}
	calls[profile->nr_calls++] = call;
	return 0;
}
