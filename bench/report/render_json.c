/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One result: its file again, with comparisons added. Several: their files in
 * an array under a heading of its own, and comparisons that name them.
 */
#include <errno.h>
#include <math.h>

#include "report/renderer.h"
#include "report/result_json.h"

/* The version of the form that holds several results. */
#define JSON_COMPARISON_VERSION 1

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *pair_or_null(bool has_interval, double low, double high)
{
	if (!has_interval || !isfinite(low) || !isfinite(high))
		return json_null();
	return json_pack("[f, f]", low, high);
}

static const struct column *column_of(const struct table *table, const struct row *row,
				      const struct cell *cell)
{
	return &table->columns[cell - row->cells];
}

static int add_labels(json_t *json, const struct comparison *comparison,
		      const struct column *column, const struct column *base)
{
	if (comparison->nr_runs == 1)
		return 0;
	if (json_object_set_new(json, "result", json_string(comparison->runs[column->run].label)) ||
	    json_object_set_new(json, "base_result",
				json_string(comparison->runs[base->run].label)))
		return -ENOMEM;
	return 0;
}

static json_t *cell_to_json(const struct comparison *comparison, const struct table *table,
			    const struct row *row, const struct cell *cell)
{
	const struct column *column = column_of(table, row, cell);
	const struct column *base = column_of(table, row, cell->base);
	const struct bootstrap *b = &cell->bootstrap;
	bool is_unclear = cell->verdict == VERDICT_UNCLEAR;
	bool is_adjusted =
		comparison->options.adjust_holm && !column->is_control && b->has_interval;
	json_t *json;

	json = json_pack(
		"{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:b}",
		"workload", table->workload, "target", table->target, "meter", table->meter,
		"metric", row->series->metric, "params",
		params_to_json(row->series->params, row->series->nr_params), "base", base->config,
		"config", column->config, "delta_percent",
		number_or_null(b->has_change ? b->change_percent : NAN), "ci95_percent",
		pair_or_null(b->has_interval, b->low_percent, b->high_percent),
		"median_delta_percent",
		number_or_null(b->has_change ? b->median_change_percent : NAN),
		"median_ci95_percent",
		pair_or_null(b->has_interval, b->median_low_percent, b->median_high_percent),
		"p_value", number_or_null(b->has_interval ? b->p_value : NAN), "p_adjusted",
		number_or_null(is_adjusted ? cell->p_adjusted : NAN), "noise_percent",
		number_or_null(cell->noise_percent), "verdict", verdict_name(cell->verdict),
		"runs_needed",
		is_unclear ? json_integer((json_int_t)cell->runs_needed) : json_null(), "control",
		column->is_control);
	if (json && add_labels(json, comparison, column, base)) {
		json_decref(json);
		json = NULL;
	}
	return json;
}

static json_t *comparisons_to_json(const struct comparison *comparison)
{
	json_t *array = json_array();
	int ret = 0;

	for (size_t i = 0; i < comparison->nr_tables; i++) {
		const struct table *table = &comparison->tables[i];

		for (size_t j = 0; j < table->nr_rows; j++) {
			const struct row *row = &table->rows[j];

			for (size_t k = 0; !ret && k < table->nr_columns; k++) {
				if (row->cells[k].base)
					ret = json_array_append_new(
						array, cell_to_json(comparison, table, row,
								    &row->cells[k]));
			}
		}
	}
	if (!ret)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *results_to_json(const struct comparison *comparison)
{
	json_t *array = json_array();
	int ret = 0;

	for (size_t i = 0; !ret && i < comparison->nr_runs; i++) {
		json_t *result;

		ret = result_to_json(comparison->runs[i].result, &result);
		if (!ret)
			ret = json_array_append_new(array, json_pack("{s:s, s:o}", "label",
								     comparison->runs[i].label,
								     "result", result));
	}
	if (!ret)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *report_to_json(const struct comparison *comparison)
{
	json_t *json;

	if (comparison->nr_runs > 1)
		return json_pack("{s:i, s:o, s:o}", "umemcg_comparison", JSON_COMPARISON_VERSION,
				 "results", results_to_json(comparison), "comparisons",
				 comparisons_to_json(comparison));
	if (result_to_json(comparison->runs[0].result, &json))
		return NULL;
	if (json_object_set_new(json, "comparisons", comparisons_to_json(comparison))) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static int render(const struct comparison *comparison, const struct render_options *options,
		  FILE *out, struct report_error *error)
{
	json_t *json = report_to_json(comparison);

	(void)options;
	(void)error;
	if (!json)
		return -ENOMEM;
	/* What fails here is the writing, and the owner of @out sees that. */
	json_dumpf(json, out, JSON_INDENT(1));
	fputc('\n', out);
	json_decref(json);
	return 0;
}

const struct renderer render_json = {
	.name = "json",
	.description = "the result file with comparisons added, delta_percent + is a larger value",
	.render = render,
};
