/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/profile_base.h"

#include <string.h>

#include "report/params.h"

static bool is_same_text(const char *left, const char *right)
{
	return left == right || (left && right && strcmp(left, right) == 0);
}

/* Are both of the same workload, but for the configuration and the parameters? */
static bool is_same_workload(const struct bench_profile *left, const struct bench_profile *right)
{
	return strcmp(left->workload, right->workload) == 0 &&
	       strcmp(left->target, right->target) == 0 &&
	       is_same_text(left->meter, right->meter) && left->part == right->part;
}

/* Any configuration will do for NULL, but not the control. */
static bool is_wanted(const char *config, const char *wanted)
{
	return wanted ? strcmp(config, wanted) == 0 : strcmp(config, COMPARISON_CONTROL) != 0;
}

/* The first in a result that a place may be compared with. */
static bool find_config(const struct comparison *comparison, size_t run,
			const struct profile_place *place, const char *config,
			struct profile_place *ret_base)
{
	const struct bench_result *result = comparison->runs[run].result;

	for (size_t i = 0; i < result->nr_profiles; i++) {
		const struct bench_profile *profile = result->profiles[i];

		if (!is_wanted(profile->config, config) ||
		    !is_same_workload(profile, place->profile) ||
		    params_compare_lists(profile->params, profile->nr_params,
					 place->profile->params, place->profile->nr_params))
			continue;
		*ret_base = (struct profile_place){ run, profile };
		return true;
	}
	return false;
}

static bool find_named(const struct comparison *comparison, const struct profile_place *place,
		       struct profile_place *ret_base)
{
	const char *anywhere[] = { comparison->options.base, "base-NotCompiled" };

	for (size_t i = 0; i < 2; i++) {
		if (!anywhere[i])
			continue;
		if (find_config(comparison, place->run, place, anywhere[i], ret_base))
			return true;
		for (size_t run = 0; run < comparison->nr_runs; run++) {
			if (find_config(comparison, run, place, anywhere[i], ret_base))
				return true;
		}
	}
	return find_config(comparison, place->run, place, "disabled", ret_base) ||
	       find_config(comparison, place->run, place, NULL, ret_base);
}

bool profile_find_base(const struct comparison *comparison, const struct profile_place *place,
		       struct profile_place *ret_base)
{
	bool is_control = strcmp(place->profile->config, COMPARISON_CONTROL) == 0;
	bool found;

	if (comparison->options.across && !is_control)
		found = place->run > 0 &&
			find_config(comparison, 0, place, place->profile->config, ret_base);
	else
		found = find_named(comparison, place, ret_base);
	return found && ret_base->profile != place->profile;
}

/* Do two lists differ in that parameter, which both have, and in no other? */
static bool differ_in_kernel_alone(const struct bench_profile *left,
				   const struct bench_profile *right)
{
	size_t nr_differing = 0;

	if (left->nr_params != right->nr_params)
		return false;
	for (size_t i = 0; i < left->nr_params; i++) {
		if (strcmp(left->params[i].name, right->params[i].name))
			return false;
		if (params_compare_lists(&left->params[i], 1, &right->params[i], 1) == 0)
			continue;
		if (strcmp(left->params[i].name, PARAM_KERNEL))
			return false;
		nr_differing++;
	}
	return nr_differing == 1;
}

bool profile_find_kernel(const struct comparison *comparison, const struct profile_place *place,
			 struct profile_place *ret_base)
{
	const struct bench_result *result = comparison->runs[place->run].result;

	/* The first kernel's profiles come first. */
	for (size_t i = 0; i < result->nr_profiles && result->profiles[i] != place->profile; i++) {
		const struct bench_profile *profile = result->profiles[i];

		if (strcmp(profile->config, place->profile->config) ||
		    !is_same_workload(profile, place->profile) ||
		    !differ_in_kernel_alone(profile, place->profile))
			continue;
		*ret_base = (struct profile_place){ place->run, profile };
		return true;
	}
	return false;
}
