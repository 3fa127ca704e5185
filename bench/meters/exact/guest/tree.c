/* SPDX-License-Identifier: MIT */
/* The guest's cgroups: the mount, which is there in every configuration, and where blocks run. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meters/exact/guest/tree.h"

#define ROOT    "/sys/fs/cgroup"
#define ROOT_V1 ROOT "/memory"

/* Where they are on every system; without cgroups the kernel has no such directory. */
static bool tree_mount(enum job_cgroup version)
{
	if (version != JOB_CGROUP_V1)
		return !mount("cgroup2", ROOT, "cgroup2", 0, NULL);
	if (mount("tmpfs", ROOT, "tmpfs", 0, NULL) || mkdir(ROOT_V1, 0755))
		return false;
	return !mount("cgroup", ROOT_V1, "cgroup", 0, "memory");
}

/* Groups that nothing is counted in, for what it costs to make them where the controller is off. */
static void use_without_controller(struct cgroup *cgroup)
{
	strcpy(cgroup->root, ROOT);
	strcpy(cgroup->own, ROOT);
	strcpy(cgroup->parent, ROOT);
	cgroup->can_make = true;
}

int tree_init(struct tree *tree, const struct guest_job *job, char *error)
{
	bool needed = job->target == WORKLOAD_KERNEL && (job->depth || job->limit != LIMIT_NONE);
	bool mounted = tree_mount(job->cgroup);
	int result;

	memset(tree, 0, sizeof(*tree));
	tree->configuration.depth = job->depth;
	tree->configuration.limit = job->limit;
	strcpy(tree->configuration.name, "guest");
	result = cgroup_find("", &tree->cgroup);
	if (!result && needed && tree->cgroup.version == CGROUP_NONE) {
		snprintf(error, JOB_ERROR, "cgroup %s: %s",
			 job->cgroup == JOB_CGROUP_V1 ? "v1" : "v2",
			 mounted ? "the memory controller is not there" : "cannot be mounted");
		return -ENODEV;
	}
	if (!result && mounted && tree->cgroup.version == CGROUP_NONE &&
	    job->cgroup != JOB_CGROUP_V1)
		use_without_controller(&tree->cgroup);
	if (!result)
		result = places_init(&tree->places, &tree->cgroup, 1);
	if (result)
		snprintf(error, JOB_ERROR, "finding cgroups: %s", strerror(-result));
	return result;
}

int tree_take(struct tree *tree, bool inner, uint64_t nr_bytes_max, struct place *ret_place)
{
	const struct configuration *configuration = &tree->configuration;

	/* Once there was a group, the root's tasks pay a little too: so not before it is needed. */
	if (!tree->prepared && (inner || configuration->depth || configuration->limit)) {
		cgroup_prepare(&tree->cgroup);
		tree->prepared = true;
	}
	return place_take(&tree->places, 0, configuration, configuration->limit == LIMIT_NEAR,
			  inner, nr_bytes_max, ret_place);
}

uint64_t tree_leave(struct tree *tree, struct place *place)
{
	return place_leave(&tree->places, place);
}
