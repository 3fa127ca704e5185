/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "made.h"

#include <stdlib.h>
#include <string.h>

struct bench_result *made_result(const char *kernel)
{
	const struct bench_environment environment = {
		.kernel = kernel,
		.command_line = "quiet",
		.config_memcg = "y",
		.cpu = "A processor",
		.cpus = 8,
		.memory_bytes = 16ull << 30,
		.thp = "madvise",
		.cgroup = "v2",
		.compiler = "gcc 12.2.0",
		.umemcg_version = "0.1.0",
		.seed = 42,
		.started = "2026-01-31T12:00:00Z",
		.load = 0.25,
	};
	struct bench_result *result;

	assert_int_equal(result_create(&result), 0);
	assert_int_equal(result_set_environment(result, &environment), 0);
	return result;
}

struct bench_series *made_series(struct bench_result *result, const char *workload,
				 const char *config, const char *metric, const char *unit,
				 const double *samples, size_t nr_samples)
{
	const struct bench_series_name name = {
		.workload = workload,
		.target = "lib",
		.meter = "time",
		.config = config,
		.metric = metric,
		.unit = unit,
		.better = strchr(unit, '/') ? BENCH_HIGHER : BENCH_LOWER,
	};
	struct bench_series *series;

	assert_int_equal(result_add_series(result, &name, &series), 0);
	for (size_t i = 0; i < nr_samples; i++) {
		const struct bench_sample sample = {
			.block = (uint32_t)i,
			.value = samples[i],
			.user_s = BENCH_NOT_MEASURED,
			.system_s = BENCH_NOT_MEASURED,
			.elapsed_s = BENCH_NOT_MEASURED,
			.operations = 100,
		};

		assert_int_equal(series_add_sample(series, &sample), 0);
	}
	return series;
}

struct bench_series *made_times(struct bench_result *result, const char *config,
				const double *samples, size_t nr_samples)
{
	return made_series(result, "fork", config, "elapsed time", "s", samples, nr_samples);
}

struct comparison *made_comparison(const struct run *runs, size_t nr_runs)
{
	const struct comparison_options options = {
		.effect_percent = VERDICT_DEFAULT_EFFECT_PERCENT,
	};
	struct comparison *comparison;
	struct report_error error;

	assert_int_equal(comparison_create(runs, nr_runs, &options, &comparison, &error), 0);
	return comparison;
}

char *rendered(const struct renderer *renderer, const struct comparison *comparison, bool plain,
	       size_t nr_columns)
{
	const struct render_options options = { .plain = plain, .nr_columns = nr_columns };
	struct report_error error;
	char *text = NULL;
	size_t nr_bytes;
	FILE *out = open_memstream(&text, &nr_bytes);

	assert_non_null(out);
	assert_int_equal(renderer->render(comparison, &options, out, &error), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

char *rendered_lines(const char *text, const char *start)
{
	char *lines = calloc(strlen(text) + 1, 1);

	assert_non_null(lines);
	while (*text) {
		size_t nr_bytes = strcspn(text, "\n");

		nr_bytes += text[nr_bytes] == '\n';
		if (strncmp(text, start, strlen(start)) == 0)
			strncat(lines, text, nr_bytes);
		text += nr_bytes;
	}
	return lines;
}

struct cell *cell_of(const struct comparison *comparison, size_t row, const char *config)
{
	const struct table *table = &comparison->tables[0];

	for (size_t i = 0; i < table->nr_columns; i++) {
		if (strcmp(table->columns[i].config, config) == 0)
			return &table->rows[row].cells[i];
	}
	fail_msg("no configuration %s", config);
	return NULL;
}
