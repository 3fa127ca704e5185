/* SPDX-License-Identifier: MIT */
/* What the presets of `umemcg bench` choose, where its command line did not. */
#include "options_parse.h"

static const double times_s[] = {
	[PRESET_QUICK] = 57,
	[PRESET_SEEDS] = 150,
	[PRESET_FULL] = 1200,
};

static const char *const workloads[METER_NR][3] = {
	[METER_TIME] = { [PRESET_QUICK] = "fork,fork_touch,pft",
			 [PRESET_SEEDS] = "fork,fork_touch,pft",
			 [PRESET_FULL] = "all" },
	[METER_EXACT] = { [PRESET_QUICK] = "pft,fork,fork_touch,pipe",
			  [PRESET_SEEDS] = "fork,fork_touch,pft",
			  [PRESET_FULL] = "all" },
};

static const char *const configurations[METER_NR][3] = {
	[METER_TIME] = { [PRESET_QUICK] = "base-NotCompiled,disabled,Unset,child,Set",
			 [PRESET_SEEDS] = "base-NotCompiled,kmemcg-stack-Unset,kmemcg-stack-Set,"
					  "kmemcg-slab-Unset,kmemcg-slab-Set",
			 [PRESET_FULL] = "all" },
	[METER_EXACT] = { [PRESET_QUICK] = "disabled,root,slab-Unset,slab-Set",
			  [PRESET_SEEDS] = "base-NotCompiled,disabled,kmemcg-slab-Unset,"
					   "kmemcg-slab-Set",
			  [PRESET_FULL] = "base-NotCompiled,disabled,Unset,root,child,Set,"
					  "nokmem-child,nokmem-Set,stack-Unset,stack-Set,near-Set,"
					  "depth-2,depth-4,depth-8,depth-16" },
};

void options_apply_preset(struct parse *parse)
{
	struct bench_options *options = parse->options;

	if (!parse->has_time)
		options->time_s = options->nr_runs ? 0 : times_s[options->preset];
	if (!options->exact.nr_layouts)
		options->exact.nr_layouts = OPTIONS_LAYOUTS_DEFAULT;
	if (!options->exact.cgroup_v1)
		options->exact.cgroup_v2 = true;
	if (!parse->targets)
		parse->targets = parse->explain ? "kernel" : "lib,kernel";
	if (!parse->workloads)
		parse->workloads = workloads[options->meter][options->preset];
	if (!parse->configurations)
		parse->configurations = configurations[options->meter][options->preset];
}
