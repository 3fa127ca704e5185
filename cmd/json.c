/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "umemcg.h"

json_t *json_size(uint64_t nr_bytes)
{
	if (nr_bytes == UMEMCG_MAX)
		return json_null();
	/* The library counts no more than 2^62 bytes, so that the sign is not met. */
	return json_integer((json_int_t)nr_bytes);
}

json_t *json_text(const char *text)
{
	json_t *json = json_string(text);
	char *copy;

	if (json)
		return json;
	copy = strdup(text);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	json = json_string(copy);
	free(copy);
	return json;
}

json_t *json_counts(const char *text)
{
	char *copy = strdup(text ? text : "");
	char *rest = copy;
	json_t *counts;
	char *line;

	if (!copy)
		return NULL;
	counts = json_object();
	while ((line = strsep(&rest, "\n"))) {
		char *count = strchr(line, ' ');

		if (!count)
			continue;
		*count++ = '\0';
		json_object_set_new(counts, line,
				    json_integer((json_int_t)strtoull(count, NULL, 10)));
	}
	free(copy);
	return counts;
}

int json_print(json_t *json, FILE *stream, bool is_line, const char *verb)
{
	int failed = !json || json_dumpf(json, stream, is_line ? JSON_COMPACT : JSON_INDENT(2));

	json_decref(json);
	failed = failed || fputc('\n', stream) == EOF || fflush(stream);
	if (failed)
		fprintf(stderr, "umemcg %s: JSON could not be written: %s\n", verb,
			strerror(errno ? errno : ENOMEM));
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
