/* SPDX-License-Identifier: MIT */
/* Configurations: in which state of whose accounting a workload runs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "configurations.h"

#define DEPTH_MAX   64
#define SEED_PREFIX "kmemcg-"
/* Said for the sake of a library that is built -Dmemcg_default=off. */
#define ON           "cgroup_enable=memory"
#define NEEDS_BOOT   "the kernel reads it at its start: with -m exact"
#define NEEDS_KERNEL "needs another kernel, built with CONFIG_MEMCG=n: with -m exact"

struct entry {
	const char *description;
	struct configuration configuration;
};

static const struct entry entries[] = {
	{ "without a controller: -Dmemcg=disabled, or a kernel with CONFIG_MEMCG=n",
	  { .name = "base-NotCompiled", .not_compiled = true } },
	{ "switched off at start: cgroup_disable=memory",
	  { .name = "disabled",
	    .command_line = "cgroup_disable=memory",
	    .switches = "cgroup_disable=memory" } },
	{ "enabled, in the root group; no other was made for it",
	  { .name = "Unset", .command_line = ON } },
	{ "as Unset, but a group with a limit exists beside, empty",
	  { .name = "root", .command_line = ON, .limit = LIMIT_FAR } },
	{ "in a group without a limit", { .name = "child", .command_line = ON, .depth = 1 } },
	{ "in a group with a limit, all kinds counted",
	  { .name = "Set", .command_line = ON, .depth = 1, .limit = LIMIT_FAR } },
	{ "as child, cgroup.memory=nokmem",
	  { .name = "nokmem-child",
	    .command_line = ON " cgroup.memory=nokmem",
	    .switches = "cgroup.memory=nokmem",
	    .depth = 1 } },
	{ "as Set, cgroup.memory=nokmem",
	  { .name = "nokmem-Set",
	    .command_line = ON " cgroup.memory=nokmem",
	    .switches = "cgroup.memory=nokmem",
	    .depth = 1,
	    .limit = LIMIT_FAR } },
	{ "as Unset, objects not counted: umemcg.kinds=stack,anon",
	  { .name = "stack-Unset",
	    .command_line = ON " umemcg.kinds=stack,anon",
	    .why_not = { [WORKLOAD_KERNEL] = "no kernel of today counts stacks without slab" } } },
	{ "as Set, objects not counted: umemcg.kinds=stack,anon",
	  { .name = "stack-Set",
	    .command_line = ON " umemcg.kinds=stack,anon",
	    .depth = 1,
	    .limit = LIMIT_FAR,
	    .why_not = { [WORKLOAD_KERNEL] = "no kernel of today counts stacks without slab" } } },
	{ "another name of Unset, for the seed's table",
	  { .name = "slab-Unset", .command_line = ON } },
	{ "another name of Set, for the seed's table",
	  { .name = "slab-Set", .command_line = ON, .depth = 1, .limit = LIMIT_FAR } },
	{ "in a group at depth N, 1 to 64, without a limit", { .name = "depth-N", .depth = 1 } },
	{ "in a group whose limit is 2 % above use",
	  { .name = "near-Set", .command_line = ON, .depth = 1, .limit = LIMIT_NEAR } },
	{ "the base a second time; its spread is the noise floor of the time meter",
	  { .name = CONFIGURATION_CONTROL, .control = true } },
};

#define NR_ENTRIES (sizeof(entries) / sizeof(entries[0]))

bool configuration_list(unsigned int index, const char **ret_name, const char **ret_description)
{
	if (index >= NR_ENTRIES)
		return false;
	*ret_name = entries[index].configuration.name;
	*ret_description = entries[index].description;
	return true;
}

const char *configuration_accepted(void)
{
	static char names[512];

	names[0] = '\0';
	for (unsigned int i = 0; i < NR_ENTRIES; i++) {
		strcat(names, entries[i].configuration.name);
		strcat(names, ", ");
	}
	return strcat(names, "all");
}

/* "depth-4", with no more digits than a depth has. */
static bool parse_depth(const char *name, struct configuration *ret_configuration)
{
	unsigned long depth;
	char *end;

	if (strncmp(name, "depth-", 6) || name[6] < '1' || name[6] > '9')
		return false;
	depth = strtoul(name + 6, &end, 10);
	if (*end || depth > DEPTH_MAX)
		return false;
	*ret_configuration =
		(struct configuration){ .command_line = ON, .depth = (unsigned int)depth };
	return true;
}

int configuration_parse(const char *name, struct configuration *ret_configuration)
{
	size_t prefix = strlen(SEED_PREFIX);
	const char *plain = strncmp(name, SEED_PREFIX, prefix) ? name : name + prefix;
	bool found = parse_depth(plain, ret_configuration);

	for (unsigned int i = 0; i < NR_ENTRIES && !found; i++) {
		found = !strcmp(plain, entries[i].configuration.name) && strcmp(plain, "depth-N");
		if (found)
			*ret_configuration = entries[i].configuration;
	}
	if (!found || strlen(name) >= CONFIGURATION_NAME)
		return -EINVAL;
	snprintf(ret_configuration->name, sizeof(ret_configuration->name), "%s", name);
	return 0;
}

const char *configuration_why_not(const struct configuration *configuration,
				  enum workload_target target, enum meter meter)
{
	if (configuration->why_not[target])
		return configuration->why_not[target];
	if (meter == METER_EXACT && configuration->control)
		return "counts repeat exactly: the base a second time would be the same";
	if (meter == METER_EXACT || target == WORKLOAD_LIB)
		return NULL;
	if (configuration->not_compiled)
		return NEEDS_KERNEL;
	return configuration->switches ? NEEDS_BOOT : NULL;
}

size_t configuration_base(const struct configuration *configurations, size_t nr_configurations)
{
	static const char *const preferred[] = { "base-NotCompiled", "disabled" };

	for (unsigned int i = 0; i < 2; i++) {
		for (size_t n = 0; n < nr_configurations; n++) {
			if (!strcmp(configurations[n].name, preferred[i]))
				return n;
		}
	}
	return 0;
}
