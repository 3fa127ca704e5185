/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result file: bytes from and to the disk. What they mean is result_json.h's matter. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/fields.h"
#include "report/replace_file.h"
#include "report/result_json.h"

#define FILE_MAX_BYTES (64u << 20)

/*
 * jansson takes up to about 100 bytes for a value of two bytes, so the number
 * of values is bounded too: 2 million are some 200 MB at worst, and four
 * hundred thousand samples with their blocks and times.
 */
#define FILE_MAX_VALUES (2u << 20)

/* An upper bound of the number of JSON values, found without building them. */
static size_t count_values(const char *text, size_t nr_bytes)
{
	bool in_string = false;
	size_t nr_values = 1;

	for (size_t i = 0; i < nr_bytes; i++) {
		if (in_string && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			in_string = !in_string;
		else if (!in_string)
			nr_values += text[i] == ',' || text[i] == '[' || text[i] == '{';
	}
	return nr_values;
}

static int parse_json(const char *text, size_t nr_bytes, const char *name, json_t **ret_json,
		      struct report_error *error)
{
	json_error_t json_error;
	json_t *json;

	if (count_values(text, nr_bytes) > FILE_MAX_VALUES) {
		snprintf(error->text, sizeof(error->text), "%.512s: more than %u values; %s", name,
			 FILE_MAX_VALUES, FIELDS_ACCEPTED);
		return -EFBIG;
	}
	json = json_loadb(text, nr_bytes, JSON_REJECT_DUPLICATES, &json_error);
	if (json) {
		*ret_json = json;
		return 0;
	}
	if (json_error_code(&json_error) == json_error_out_of_memory)
		return -ENOMEM;
	if (json_error_code(&json_error) == json_error_premature_end_of_input)
		snprintf(error->text, sizeof(error->text), "%.512s: ends too early; %s", name,
			 FIELDS_ACCEPTED);
	else
		snprintf(error->text, sizeof(error->text),
			 "%.512s: is not JSON (line %d, column %d); %s", name, json_error.line,
			 json_error.column, FIELDS_ACCEPTED);
	return -EINVAL;
}

int result_parse(const char *text, size_t nr_bytes, const char *name,
		 struct bench_result **ret_result, struct report_error *error)
{
	json_t *json = NULL;
	int ret;

	ret = parse_json(text, nr_bytes, name, &json, error);
	if (!ret)
		ret = result_from_json(json, name, ret_result, error);
	json_decref(json);
	if (ret == -ENOMEM)
		snprintf(error->text, sizeof(error->text), "%.512s: not enough memory to read it",
			 name);
	if (ret == -E2BIG)
		snprintf(error->text, sizeof(error->text), "%.512s: more than %d series; %s", name,
			 BENCH_MAX_SERIES, FIELDS_ACCEPTED);
	return ret;
}

/* Also what cannot tell its size, a pipe say. */
static int read_all(int fd, char **ret_text, size_t *ret_nr_bytes)
{
	size_t nr_room = 1u << 16, nr_bytes = 0;
	char *text = malloc(nr_room);

	while (text) {
		ssize_t nr_read = read(fd, text + nr_bytes, nr_room - nr_bytes);
		char *grown;

		if (nr_read < 0 && errno == EINTR)
			continue;
		if (nr_read < 0) {
			int ret = -errno;

			free(text);
			return ret;
		}
		if (nr_read == 0) {
			*ret_text = text;
			*ret_nr_bytes = nr_bytes;
			return 0;
		}
		nr_bytes += (size_t)nr_read;
		if (nr_bytes > FILE_MAX_BYTES) {
			free(text);
			return -EFBIG;
		}
		if (nr_bytes < nr_room)
			continue;
		grown = realloc(text, nr_room * 2);
		if (!grown)
			free(text);
		text = grown;
		nr_room *= 2;
	}
	return -ENOMEM;
}

int result_read(const char *path, struct bench_result **ret_result, struct report_error *error)
{
	size_t nr_bytes = 0;
	char *text = NULL;
	int fd, ret;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	ret = fd < 0 ? -errno : read_all(fd, &text, &nr_bytes);
	if (fd >= 0)
		close(fd);
	if (ret == -EFBIG) {
		snprintf(error->text, sizeof(error->text), "%.512s: larger than %u MiB; %s", path,
			 FILE_MAX_BYTES >> 20, FIELDS_ACCEPTED);
		return ret;
	}
	if (ret) {
		snprintf(error->text, sizeof(error->text), "%.512s: %s; %s", path, strerror(-ret),
			 FIELDS_ACCEPTED);
		return ret;
	}
	ret = result_parse(text, nr_bytes, path, ret_result, error);
	free(text);
	return ret;
}

int result_write(const struct bench_result *result, const char *path, struct report_error *error)
{
	char *text = NULL;
	json_t *json;
	int ret;

	ret = result_to_json(result, &json);
	if (!ret) {
		text = json_dumps(json, JSON_INDENT(1));
		json_decref(json);
		ret = text ? replace_file(path, text, strlen(text)) : -ENOMEM;
	}
	free(text);
	if (ret)
		snprintf(error->text, sizeof(error->text), "%.512s: cannot write the result: %s",
			 path, strerror(-ret));
	return ret;
}
