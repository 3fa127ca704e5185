/* SPDX-License-Identifier: MIT */
/* Lists with commas, and what is asked of names of files, on the command line of `umemcg bench`. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options_lists.h"

/* Why an item is not accepted. */
enum { ITEM_UNKNOWN = -EINVAL, ITEM_TWICE = -EEXIST, ITEM_TOO_MANY = -E2BIG };

/* Calls @add with each item of the list. */
static int for_each_item(const char *list, struct bench_options *options, char *ret_bad,
			 int (*add)(struct bench_options *options, const char *item))
{
	for (;;) {
		size_t length = strcspn(list, ",");
		char item[OPTIONS_BAD];
		int error;

		snprintf(item, sizeof(item), "%.*s", (int)length, list);
		error = length && length < sizeof(item) ? add(options, item) : ITEM_UNKNOWN;
		if (error) {
			snprintf(ret_bad, OPTIONS_BAD, "%s", item[0] ? item : "''");
			return error;
		}
		if (!list[length])
			return 0;
		list += length + 1;
	}
}

static int add_target(struct bench_options *options, const char *item)
{
	static const char *const names[] = { [WORKLOAD_LIB] = "lib", [WORKLOAD_KERNEL] = "kernel" };

	for (unsigned int i = 0; i < WORKLOAD_NR_TARGETS; i++) {
		if (strcmp(item, names[i]))
			continue;
		if (options->targets[i])
			return ITEM_TWICE;
		options->targets[i] = true;
		return 0;
	}
	return ITEM_UNKNOWN;
}

int options_parse_targets(const char *list, struct bench_options *options, char *ret_bad)
{
	return for_each_item(list, options, ret_bad, add_target);
}

static int append_workload(struct bench_options *options, const struct workload *workload)
{
	for (size_t i = 0; i < options->nr_workloads; i++) {
		if (options->workloads[i] == workload)
			return ITEM_TWICE;
	}
	if (options->nr_workloads == OPTIONS_NR_WORKLOADS)
		return ITEM_TOO_MANY;
	options->workloads[options->nr_workloads++] = workload;
	return 0;
}

static int add_workload(struct bench_options *options, const char *item)
{
	const struct workload *workload = workload_find(item);
	int error = 0;

	if (workload)
		return append_workload(options, workload);
	if (strcmp(item, "all"))
		return ITEM_UNKNOWN;
	for (unsigned int i = 0; workload_table[i] && !error; i++)
		error = append_workload(options, workload_table[i]);
	return error;
}

int options_parse_workloads(const char *list, struct bench_options *options, char *ret_bad)
{
	return for_each_item(list, options, ret_bad, add_workload);
}

const char *options_accepted_workloads(void)
{
	static char names[512];

	names[0] = '\0';
	for (unsigned int i = 0; workload_table[i]; i++) {
		strcat(names, workload_table[i]->name);
		strcat(names, ", ");
	}
	return strcat(names, "all");
}

static int add_workers(struct bench_options *options, const char *item)
{
	unsigned long number;
	char *end;

	if (*item < '1' || *item > '9')
		return ITEM_UNKNOWN;
	number = strtoul(item, &end, 10);
	if (*end || number > OPTIONS_WORKERS_MAX)
		return ITEM_UNKNOWN;
	for (size_t i = 0; i < options->nr_workers; i++) {
		if (options->workers[i] == number)
			return ITEM_TWICE;
	}
	if (options->nr_workers == OPTIONS_NR_WORKERS)
		return ITEM_TOO_MANY;
	options->workers[options->nr_workers++] = (unsigned int)number;
	return 0;
}

int options_parse_workers(const char *list, struct bench_options *options, char *ret_bad)
{
	return for_each_item(list, options, ret_bad, add_workers);
}

static int add_configuration(struct bench_options *options, const char *item)
{
	struct configuration configuration;

	if (configuration_parse(item, &configuration))
		return ITEM_UNKNOWN;
	for (size_t i = 0; i < options->nr_configurations; i++) {
		if (!strcmp(options->configurations[i].name, configuration.name))
			return ITEM_TWICE;
	}
	if (options->nr_configurations == OPTIONS_NR_CONFIGURATIONS)
		return ITEM_TOO_MANY;
	options->configurations[options->nr_configurations++] = configuration;
	return 0;
}

/* Of depths, one that shows; "depth-N" itself is no configuration. Other names add nothing. */
static int add_all_configurations(struct bench_options *options)
{
	const char *name, *description;
	int error = 0;

	for (unsigned int i = 0; configuration_list(i, &name, &description) && !error; i++) {
		if (!strncmp(name, "slab-", 5) || !strcmp(name, CONFIGURATION_CONTROL))
			continue;
		error = add_configuration(options, strcmp(name, "depth-N") ? name : "depth-4");
	}
	return error;
}

static int add_configuration_or_all(struct bench_options *options, const char *item)
{
	if (!strcmp(item, "all"))
		return add_all_configurations(options);
	return add_configuration(options, item);
}

static bool has_control(const struct bench_options *options)
{
	for (size_t i = 0; i < options->nr_configurations; i++) {
		if (options->configurations[i].control)
			return true;
	}
	return false;
}

int options_parse_configurations(const char *list, struct bench_options *options, char *ret_bad)
{
	int error = for_each_item(list, options, ret_bad, add_configuration_or_all);

	if (!error && options->meter == METER_TIME && !has_control(options)) {
		snprintf(ret_bad, OPTIONS_BAD, "%s", CONFIGURATION_CONTROL);
		error = add_configuration(options, CONFIGURATION_CONTROL);
	}
	return error;
}

/* The directory that @path is in or would be in. */
static bool directory_is_writable(const char *path)
{
	char directory[PATH_MAX];
	char *slash;

	if (snprintf(directory, sizeof(directory), "%s", path) >= PATH_MAX)
		return false;
	slash = strrchr(directory, '/');
	if (!slash)
		return !access(".", W_OK | X_OK);
	slash[slash == directory] = '\0';
	return !access(directory, W_OK | X_OK);
}

bool options_can_write(const char *path)
{
	struct stat status;

	if (!*path || path[strlen(path) - 1] == '/')
		return false;
	if (stat(path, &status))
		return errno == ENOENT && directory_is_writable(path);
	if (S_ISDIR(status.st_mode) || access(path, W_OK))
		return false;
	return !S_ISREG(status.st_mode) || directory_is_writable(path);
}

bool options_can_make(const char *path)
{
	char plain[PATH_MAX];
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	if (!length || length >= PATH_MAX)
		return false;
	snprintf(plain, sizeof(plain), "%.*s", (int)length, path);
	return access(plain, F_OK) && errno == ENOENT && directory_is_writable(plain);
}

static bool is_program(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

bool options_find_command(const char *name, char *ret_path)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/')) {
		snprintf(ret_path, PATH_MAX, "%s", name);
		return is_program(name);
	}
	for (path = path ? path : "/usr/bin:/bin"; *name && path; path = strchr(path, ':')) {
		path += *path == ':';
		snprintf(ret_path, PATH_MAX, "%.*s/%s", (int)strcspn(path, ":"), path, name);
		if (is_program(ret_path))
			return true;
	}
	return false;
}
