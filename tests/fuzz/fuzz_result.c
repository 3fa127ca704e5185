/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The result reader. Whatever it accepts can be written, is read again, and is
 * printed in every format; whatever it refuses is refused in one line.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report/renderer.h"
#include "report/result_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is compared takes time in proportion to its samples; reading is what is tried. */
#define MAX_PRINTED_SERIES 16

static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fuzz_result: %s\n", what);
	abort();
}

static void write_and_read(const struct bench_result *result)
{
	struct bench_result *again;
	struct report_error error;
	json_t *json;

	require(result_to_json(result, &json) == 0, "an accepted result cannot be written");
	require(result_from_json(json, "again", &again, &error) == 0,
		"what was written is not accepted");
	require(again->nr_series == result->nr_series, "a series was lost");
	require(again->nr_profiles == result->nr_profiles, "a profile was lost");
	result_destroy(again);
	json_decref(json);
}

static void print(const struct bench_result *result)
{
	const struct run runs[] = { { "one", result }, { "two", result } };
	const struct comparison_options options = { .effect_percent = 1, .adjust_holm = true };
	struct render_options render = { 0 };

	for (size_t nr_runs = 1; nr_runs <= 2; nr_runs++) {
		struct comparison *comparison;
		struct report_error error;

		/* A result may contradict itself: the same series twice, sums that do not add up.
		 */
		if (comparison_create(runs, nr_runs, &options, &comparison, &error))
			return;
		for (size_t i = 0; renderers[i]; i++) {
			char *text = NULL;
			size_t nr_bytes;
			FILE *out = open_memstream(&text, &nr_bytes);

			render.plain = !render.plain;
			renderers[i]->render(comparison, &render, out, &error);
			fclose(out);
			free(text);
		}
		comparison_destroy(comparison);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bench_result *result = NULL;
	struct report_error error = { "" };

	if (result_parse((const char *)data, size, "fuzz", &result, &error)) {
		require(!result, "a refused result was returned");
		require(*error.text && !strchr(error.text, '\n'), "no line says why");
		return 0;
	}
	require(!*error.text, "accepted with an error");
	write_and_read(result);
	if (result->nr_series <= MAX_PRINTED_SERIES)
		print(result);
	result_destroy(result);
	return 0;
}
