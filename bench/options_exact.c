/* SPDX-License-Identifier: MIT */
/* The options of `umemcg bench` that the exact meter alone knows. */
#include <errno.h>
#include <string.h>

#include "options_parse.h"

#define DEFAULT_PACKAGE "linux-image-cloud-amd64"

static error_t add_kernel(const char *option, const char *argument, const char **items,
			  size_t *nr_items)
{
	if (!*argument || argument[0] == '=' || argument[strlen(argument) - 1] == '=')
		return options_refuse("%s %s: PATH or NAME=PATH is accepted", option,
				      *argument ? argument : "''");
	if (*nr_items == OPTIONS_NR_KERNELS)
		return options_refuse("%s %s: at most %d of them are accepted", option, argument,
				      OPTIONS_NR_KERNELS);
	items[(*nr_items)++] = argument;
	return 0;
}

static error_t parse_layouts(const char *argument, struct exact_options *exact)
{
	uint64_t number;

	if (!options_parse_number(argument, OPTIONS_NR_LAYOUTS, &number) || !number)
		return options_refuse("--layouts %s: a number from 1 to %d is accepted", argument,
				      OPTIONS_NR_LAYOUTS);
	exact->nr_layouts = (unsigned int)number;
	return 0;
}

static error_t parse_cgroup(const char *argument, struct exact_options *exact)
{
	bool both = !strcmp(argument, "v1,v2") || !strcmp(argument, "v2,v1");

	exact->cgroup_v1 = both || !strcmp(argument, "v1");
	exact->cgroup_v2 = both || !strcmp(argument, "v2");
	if (!exact->cgroup_v1 && !exact->cgroup_v2)
		return options_refuse("--cgroup %s: accepted are: v2, v1, v1,v2", argument);
	return 0;
}

error_t options_parse_exact(int key, const char *argument, struct parse *parse)
{
	struct exact_options *exact = &parse->options->exact;

	switch (key) {
	case OPTIONS_KEY_KERNEL:
		parse->only[METER_EXACT] = "--kernel";
		return add_kernel("--kernel", argument, exact->kernels, &exact->nr_kernels);
	case OPTIONS_KEY_DEBUG_INFO:
		parse->only[METER_EXACT] = "--debug-info";
		return add_kernel("--debug-info", argument, exact->debug_infos,
				  &exact->nr_debug_infos);
	case OPTIONS_KEY_LAYOUTS:
		parse->only[METER_EXACT] = "--layouts";
		return parse_layouts(argument, exact);
	case OPTIONS_KEY_CGROUP:
		parse->only[METER_EXACT] = "--cgroup";
		return parse_cgroup(argument, exact);
	case OPTIONS_KEY_EXPLAIN:
		parse->only[METER_EXACT] = "--explain";
		parse->explain = argument;
		return 0;
	case OPTIONS_KEY_GET_KERNEL:
		parse->options->get_kernel = argument ? argument : DEFAULT_PACKAGE;
		return 0;
	case OPTIONS_KEY_YES:
		parse->options->yes = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Names of packages, as Debian's policy has them: nothing that a tool could take for an option. */
static bool is_package(const char *name)
{
	return name[0] != '-' && strlen(name) > 1 &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+-.")];
}

/* "fork" or "fork,Set": what is explained, and in which configuration. */
static error_t check_explain(const struct parse *parse)
{
	const struct bench_options *options = parse->options;

	if (parse->workloads || parse->configurations)
		return options_refuse("--explain %s: it takes the place of -w and -c; "
				      "OPERATION or OPERATION,CONFIG is accepted",
				      parse->explain);
	if (options->command)
		return options_refuse("--explain %s: a workload of --list is accepted, and no "
				      "command",
				      parse->explain);
	return 0;
}

error_t options_check_exact(const struct parse *parse)
{
	const struct bench_options *options = parse->options;
	enum meter other = options->meter == METER_EXACT ? METER_TIME : METER_EXACT;
	static const char *const names[METER_NR] = { "time", "exact" };

	if (options->yes && !options->get_kernel)
		return options_refuse("--yes: accepted together with --get-kernel");
	if (options->get_kernel && !is_package(options->get_kernel))
		return options_refuse("--get-kernel=%s: the name of a package is accepted, such as "
				      "%s",
				      options->get_kernel, DEFAULT_PACKAGE);
	if (options->list || options->get_kernel)
		return 0;
	if (parse->only[other])
		return options_refuse("%s: accepted with -m %s alone, and this is -m %s",
				      parse->only[other], names[other], names[options->meter]);
	return parse->explain ? check_explain(parse) : 0;
}
