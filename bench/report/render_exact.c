/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an operation costs in instructions: for each a table with a row for each configuration,
 * where the base shows itself and the others what they add to it. Of several kernels, below it,
 * what each costs more than the first. Then where it goes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/exact_operation.h"
#include "report/exact_prices.h"
#include "report/layout.h"
#include "report/params.h"
#include "report/profile_base.h"
#include "report/render_exact_profile.h"
#include "report/surroundings.h"

static size_t nr_layouts(const struct exact_operation *operation, size_t nr_columns)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_columns; i++) {
		const struct cell *cell = exact_prices_cell(operation->mean, i);

		nr = cell && cell->statistics.nr_samples > nr ? cell->statistics.nr_samples : nr;
	}
	return nr;
}

static void print_title(const struct comparison *comparison, const struct table *table,
			const struct exact_operation *operation, FILE *out)
{
	const struct bench_series *series = operation->mean->series;
	const struct bench_environment *e = &comparison->runs[0].result->environment;
	const struct bench_param *kernel = params_find(series, PARAM_KERNEL);
	size_t nr = nr_layouts(operation, table->nr_columns);
	char *text = NULL;
	size_t nr_bytes;
	FILE *line = open_memstream(&text, &nr_bytes);

	if (!line)
		return;
	fprintf(line, "%s: instructions per %s, %s", table->workload, operation->name,
		table->target);
	if (kernel) {
		fputc(' ', line);
		params_print_value(kernel, line);
	} else if (strcmp(table->target, "kernel") == 0 && comparison->nr_runs == 1) {
		fprintf(line, " %s", e->kernel);
	}
	for (size_t i = 0; i < series->nr_params; i++) {
		const struct bench_param *param = &series->params[i];

		if (param == kernel)
			continue;
		fprintf(line, ", %s%c", param->name, strcmp(param->name, PARAM_CGROUP) ? '=' : ' ');
		params_print_value(param, line);
	}
	fprintf(line, ", %zu %s", nr, nr == 1 ? "layout" : "layouts");
	if (!fclose(line)) {
		surroundings_wrap(out, text, 0);
		layout_rule(out, '=', nr_bytes < 80 ? nr_bytes : 80);
	}
	free(text);
}

static void print_table(const struct comparison *comparison, const struct table *table, FILE *out)
{
	for (size_t i = 0; i < table->nr_rows; i++) {
		struct exact_operation operation, older;
		struct exact_prices prices;

		if (!exact_operation_at(table, i, &operation))
			continue;
		prices = exact_prices(comparison, table, &operation, out);
		print_title(comparison, table, &operation, out);
		exact_prices_print(&prices);
		if (exact_operation_of_first_kernel(comparison, table, &operation, &older))
			exact_prices_print_kernels(&prices, &older);
		fputc('\n', out);
	}
}

static bool has_in_kernel(const struct comparison *comparison)
{
	struct exact_operation operation;

	for (size_t t = 0; t < comparison->nr_tables; t++) {
		const struct table *table = &comparison->tables[t];

		for (size_t i = 0; i < table->nr_rows; i++) {
			if (strcmp(table->meter, "exact") == 0 &&
			    exact_operation_at(table, i, &operation) && operation.in_kernel)
				return true;
		}
	}
	return false;
}

static void print_legend(const struct comparison *comparison, size_t nr_columns, FILE *out)
{
	static const char text[] =
		"Counts are instructions, not time. added, percent: the median against the base's. "
		"mode: of most single operations that no interrupt fell into; below the base, what is "
		"added to its. put off: what softirqs and kernel threads do for an operation, then or "
		"later.";
	static const char in_kernel[] =
		" in kernel: of an operation of the library's, which is counted in user space, what "
		"the kernel did.";
	char legend[sizeof(text) + sizeof(in_kernel)];

	snprintf(legend, sizeof(legend), "%s%s", text, has_in_kernel(comparison) ? in_kernel : "");
	surroundings_wrap(out, legend, nr_columns);
}

static int render(const struct comparison *comparison, const struct render_options *options,
		  FILE *out, struct report_error *error)
{
	/* A wider terminal does not make lines of text easier to read. */
	const struct render_options narrow = { .plain = options->plain, .nr_columns = 80 };
	size_t nr_exact = 0;

	for (size_t i = 0; i < comparison->nr_tables; i++)
		nr_exact += strcmp(comparison->tables[i].meter, "exact") == 0;
	if (comparison->nr_tables && !nr_exact) {
		snprintf(
			error->text, sizeof(error->text),
			"%.256s: has times alone; accepted by this format are results of the exact "
			"meter",
			comparison->runs[0].label);
		return -EINVAL;
	}
	if (!options->plain)
		surroundings_head(comparison, &narrow, out);
	for (size_t i = 0; i < comparison->nr_tables; i++) {
		if (strcmp(comparison->tables[i].meter, "exact") == 0)
			print_table(comparison, &comparison->tables[i], out);
	}
	surroundings_skipped(comparison, &narrow, out);
	if (nr_exact)
		print_legend(comparison, narrow.nr_columns, out);
	return render_exact_profiles(comparison, out, error);
}

const struct renderer render_exact = {
	.name = "exact",
	.description = "instructions an operation, and where they go",
	.render = render,
};
