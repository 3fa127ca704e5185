/* SPDX-License-Identifier: MIT */
/* Configurations: in which state of whose accounting a workload runs. */
#ifndef BENCH_CONFIGURATIONS_H
#define BENCH_CONFIGURATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "meters/meter.h"
#include "workloads/workload.h"

#define CONFIGURATION_NAME    32
#define CONFIGURATION_CONTROL "AA"

enum configuration_limit {
	LIMIT_NONE,
	LIMIT_FAR,  /* never met */
	LIMIT_NEAR, /* 2 % above use */
};

struct configuration {
	char name[CONFIGURATION_NAME];  /* as it was asked for; tables show it */
	const char *command_line;       /* lib: UMEMCG_CMDLINE of the worker, or NULL */
	const char *switches;           /* kernel: of its command line, or NULL */
	bool not_compiled;              /* a library, or a kernel, that has no controller */
	unsigned int depth;             /* of the group to run in; 0 for the root */
	enum configuration_limit limit; /* of that group; at depth 0 of one that is beside, empty */
	bool control;                   /* runs as the base does */
	const char *why_not[WORKLOAD_NR_TARGETS]; /* whatever the meter */
};

/**
 * configuration_parse - a configuration by name
 * @name:              one of configuration_list()'s, "depth-N", or either with "kmemcg-" in front
 *                     as the seed's tables have it
 * @ret_configuration: copied
 *
 * Return: 0; -EINVAL for an unknown name.
 */
int configuration_parse(const char *name, struct configuration *ret_configuration);

/** configuration_list - name and description of number @index, or false behind the last one */
bool configuration_list(unsigned int index, const char **ret_name, const char **ret_description);

/**
 * configuration_why_not - why a meter cannot measure a configuration anywhere
 *
 * Return: a line, or NULL if it can where all else is given.
 */
const char *configuration_why_not(const struct configuration *configuration,
				  enum workload_target target, enum meter meter);

/** configuration_base - index of what the others are held against: see comparison_create() */
size_t configuration_base(const struct configuration *configurations, size_t nr_configurations);

/** configuration_accepted - the names, as a message would list them */
const char *configuration_accepted(void);

#endif
