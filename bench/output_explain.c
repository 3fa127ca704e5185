/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `umemcg bench --explain` prints. */
#include <stdio.h>
#include <string.h>

#include "output_explain.h"
#include "report/explain.h"
#include "report/profile_base.h"

static const char *operation_of(const struct output *output, const struct bench_profile *profile)
{
	const struct workload *workload = output->options->workloads[0];
	const char *operation =
		profile->part == BENCH_PART_APART ? workload->operation_apart : workload->operation;

	return operation ? operation : "operation";
}

static int explain_one(const struct output *output, const struct comparison *comparison,
		       const struct bench_profile *profile, bool first, struct report_error *error)
{
	const struct profile_place place = { 0, profile };
	struct profile_place base;

	if (!profile_find_base(comparison, &place, &base))
		return 0;
	puts(first ? "Counts are instructions, not time.\n" : "");
	return profile_explain_print(stdout, base.profile, profile, 0,
				     operation_of(output, profile), error);
}

/* The configuration in question was asked for behind its bases. */
static int explain_all(const struct output *output, struct report_error *error)
{
	const struct comparison_options options = { .effect_percent =
							    VERDICT_DEFAULT_EFFECT_PERCENT };
	const struct bench_result *result = output->exact;
	const struct run run = { .label = "this run", .result = result };
	const char *config =
		output->options->configurations[output->options->nr_configurations - 1].name;
	struct comparison *comparison;
	bool first = true;
	int ret = comparison_create(&run, 1, &options, &comparison, error);

	if (ret)
		return ret;
	for (size_t i = 0; i < result->nr_profiles && !ret; i++) {
		if (strcmp(result->profiles[i]->config, config))
			continue;
		ret = explain_one(output, comparison, result->profiles[i], first, error);
		first = false;
	}
	comparison_destroy(comparison);
	for (size_t i = 0; i < result->nr_skipped; i++)
		printf("Not measured: %s: %s\n", result->skipped[i].what, result->skipped[i].why);
	return ret;
}

int output_explain(const struct output *output)
{
	struct report_error error = { "" };

	return output_finish(output, explain_all(output, &error), &error);
}
