/* SPDX-License-Identifier: MIT */
/*
 * Groups themselves: make N of them, read every statistics file of each, remove them. It reads its
 * own clock, since the three are reported apart. Bytes a group come from the resident size (lib) or
 * from the parent, to which the kernel charges a group's structures; below a thousand groups they
 * would measure pages and batches, not groups.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <umemcg.h>

#include "workloads/cgroup_files.h"
#include "workloads/workload.h"

#define NR_GROUPS_FOR_BYTES 1000

struct groups {
	double change_s; /* spent in making and removing groups */
	double read_s;
	uint64_t nr_rounds;
	uint64_t nr_made;  /* of the groups of this round */
	uint64_t nr_bytes; /* of the first round: later ones reuse what it left */
	struct umemcg *groups[];
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t resident_bytes(void)
{
	char text[128] = "";
	unsigned long size, resident = 0;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) > 0)
		sscanf(text, "%lu %lu", &size, &resident);
	close(fd);
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t used_bytes(const struct workload_context *context)
{
	if (context->target == WORKLOAD_LIB)
		return resident_bytes();
	return cgroup_files_usage(context->cgroup);
}

/* The array is written here, so that its own pages do not count as the groups'. */
static int groups_setup(struct workload_context *context, struct workload_worker *worker)
{
	size_t nr_bytes_array = context->value * sizeof(struct umemcg *);
	struct groups *groups = malloc(sizeof(*groups) + nr_bytes_array);

	if (!groups)
		return workload_fail(worker, "malloc");
	if (context->target == WORKLOAD_KERNEL && !context->cgroup) {
		free(groups);
		worker->failed = "no directory for groups";
		return -ENOENT;
	}
	memset(groups, 0, sizeof(*groups));
	memset(groups->groups, 0xff, nr_bytes_array);
	context->data = groups;
	return 0;
}

/* How many there can be is worth knowing: the kernel has 65535 numbers for them. */
static const char *failed_at(const char *call, uint64_t i)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s of group %llu", call, (unsigned long long)i + 1);
	return text;
}

static int create_one(struct workload_context *context, struct workload_worker *worker, uint64_t i)
{
	struct groups *groups = context->data;
	char name[24];
	int error;

	if (context->target == WORKLOAD_KERNEL) {
		snprintf(name, sizeof(name), "g%llu", (unsigned long long)i);
		error = cgroup_files_make(context->cgroup, name, worker);
		if (error)
			worker->failed = failed_at("mkdir", i);
	} else {
		error = umemcg_create(umemcg_current(), NULL, &groups->groups[i]);
		if (error)
			worker->failed = failed_at("umemcg_create", i);
	}
	groups->nr_made += !error;
	return error;
}

static int destroy_one(struct workload_context *context, struct workload_worker *worker, uint64_t i)
{
	struct groups *groups = context->data;
	char name[24];
	int error;

	if (context->target == WORKLOAD_KERNEL) {
		snprintf(name, sizeof(name), "g%llu", (unsigned long long)i);
		error = cgroup_files_remove(context->cgroup, name);
		if (error)
			worker->failed = "rmdir of a cgroup";
		return error;
	}
	/* With accounting off every group is the root, which cannot be destroyed. */
	error = umemcg_state() == UMEMCG_ENABLED ? umemcg_destroy(groups->groups[i]) : 0;
	if (error)
		worker->failed = "umemcg_destroy";
	return error;
}

static int read_one(struct workload_context *context, struct workload_worker *worker, uint64_t i)
{
	struct groups *groups = context->data;
	const char *file;
	char text[4096];

	if (context->target == WORKLOAD_KERNEL) {
		snprintf(text, sizeof(text), "g%llu", (unsigned long long)i);
		int nr_files = cgroup_files_read(context->cgroup, text, worker);

		return nr_files < 0 ? nr_files : 0;
	}
	for (unsigned int n = 0; (file = umemcg_control_file(n)); n++) {
		int length = umemcg_read(groups->groups[i], file, text, sizeof(text));

		/* Some files are only written. */
		if (length < 0 && length != -EOPNOTSUPP && length != -EACCES) {
			worker->failed = "umemcg_read";
			return length;
		}
	}
	return 0;
}

static int for_each(struct workload_context *context, struct workload_worker *worker,
		    uint64_t nr_groups,
		    int (*one)(struct workload_context *, struct workload_worker *, uint64_t),
		    double *ret_seconds)
{
	double start_s = now_s();
	int error = 0;

	for (uint64_t i = 0; i < nr_groups && !error; i++)
		error = one(context, worker, i);
	*ret_seconds += now_s() - start_s;
	return error;
}

static int groups_round(struct workload_context *context, struct workload_worker *worker)
{
	struct groups *groups = context->data;
	uint64_t before = used_bytes(context), after;
	double change_s = 0, read_s = 0;
	const char *failed;
	int error;

	groups->nr_made = 0;
	error = for_each(context, worker, context->value, create_one, &change_s);
	after = used_bytes(context);
	if (!error)
		error = for_each(context, worker, context->value, read_one, &read_s);
	/* What was made goes again even if not all of it could be. */
	failed = worker->failed;
	if (for_each(context, worker, groups->nr_made, destroy_one, &change_s) && !error)
		return -EBUSY;
	if (error) {
		worker->failed = failed;
		return error;
	}
	if (!groups->nr_bytes && after > before)
		groups->nr_bytes = after - before;
	if (!worker->warming_up) {
		groups->change_s += change_s;
		groups->read_s += read_s;
		groups->nr_rounds++;
	}
	worker->nr_units += context->value;
	return 0;
}

static int groups_run(struct workload_context *context, struct workload_worker *worker,
		      uint64_t nr_operations)
{
	int error = 0;

	for (; nr_operations > 0 && !error; nr_operations--)
		error = groups_round(context, worker);
	return error;
}

static int groups_report(struct workload_context *context, struct workload_totals *totals)
{
	const struct groups *groups = context->data;
	double nr_groups = (double)(groups->nr_rounds * context->value);

	totals->measured[0] = groups->change_s / nr_groups * 1e6;
	totals->measured[1] = groups->read_s / nr_groups * 1e6;
	totals->measured[2] = -1;
	if (context->value >= NR_GROUPS_FOR_BYTES)
		totals->measured[2] = (double)groups->nr_bytes / (double)context->value;
	return 0;
}

static void groups_teardown(struct workload_context *context)
{
	free(context->data);
}

static double create_destroy_us(const struct workload_totals *totals)
{
	return totals->measured[0];
}

static double read_us(const struct workload_totals *totals)
{
	return totals->measured[1];
}

static double bytes_per_group(const struct workload_totals *totals)
{
	return totals->measured[2];
}

const struct workload workload_groups = {
	.name = "groups",
	.description = "create N groups, read every statistics file of each, destroy them",
	.title = {
		[WORKLOAD_LIB] = "groups (lib)",
		[WORKLOAD_KERNEL] = "groups, mkdir and rmdir (kernel)",
	},
	.workers = WORKLOAD_ALONE,
	.metrics = {
		{ "create + destroy", "us", WORKLOAD_LOWER, create_destroy_us },
		{ "read every file", "us", WORKLOAD_LOWER, read_us },
		{ "bytes a group", "bytes", WORKLOAD_LOWER, bytes_per_group },
	},
	.parameter = "groups",
	.values = { 10, 1000, 100000 },
	.nr_values = 3,
	.nr_values_quick = 2,
	.max_operations = 100,
	.makes_groups = true,
	.makes_groups_at_root = true,
	.operation = "group",
	.nr_operations_exact = 10,
	.setup = groups_setup,
	.run = groups_run,
	.report = groups_report,
	.teardown = groups_teardown,
};
