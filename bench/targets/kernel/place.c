/* SPDX-License-Identifier: MIT */
/* Where in the kernel's tree a block runs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/kernel/cgroup_file.h"
#include "targets/kernel/place.h"

int places_init(struct places *places, const struct cgroup *cgroup, size_t nr_configurations)
{
	places->cgroup = cgroup;
	places->nr_groups = nr_configurations;
	places->groups = calloc(nr_configurations, sizeof(*places->groups));
	return places->groups ? 0 : -ENOMEM;
}

void places_fini(struct places *places)
{
	free(places->groups);
	places->groups = NULL;
}

static int group_make(struct places *places, const char *name, unsigned int depth, bool inner,
		      uint64_t nr_bytes_max, struct cgroup_group *ret_group)
{
	struct cgroup_group group;
	int error = cgroup_group_create(places->cgroup, name, depth, inner, &group);

	if (error)
		return error;
	if (nr_bytes_max)
		error = cgroup_group_set_max(places->cgroup, &group, nr_bytes_max);
	if (error) {
		cgroup_group_destroy(&group);
		return error;
	}
	*ret_group = group;
	return 0;
}

/* The root group needs no move where this process is in it anyway. */
static void stay_in_root(const struct cgroup *cgroup, struct place *place)
{
	if (cgroup->version != CGROUP_NONE && strcmp(cgroup->own, cgroup->root))
		cgroup_file_path(place->procs, cgroup->root, "cgroup.procs");
}

int place_take(struct places *places, size_t index, const struct configuration *configuration,
	       bool own, bool inner, uint64_t nr_bytes_max, struct place *ret_place)
{
	uint64_t nr_bytes_far = configuration->limit == LIMIT_FAR ? PLACE_FAR_BYTES : 0;
	unsigned int depth = configuration->depth ? configuration->depth : 1;
	struct place place = { 0 };
	int error = 0;

	if (own || inner) {
		place.passing = true;
		error = group_make(places, "block", depth, inner,
				   nr_bytes_max ? nr_bytes_max : nr_bytes_far, &place.group);
	} else if (configuration->depth || configuration->limit != LIMIT_NONE) {
		if (!places->groups[index].directory[0])
			error = group_make(places, configuration->name, depth, false, nr_bytes_far,
					   &places->groups[index]);
		place.group = places->groups[index];
	}
	if (error)
		return error;
	if (configuration->depth)
		memcpy(place.procs, place.group.procs, PATH_MAX);
	else
		stay_in_root(places->cgroup, &place);
	if (inner)
		memcpy(place.directory, place.group.directory, PATH_MAX);
	*ret_place = place;
	return 0;
}

uint64_t place_leave(struct places *places, struct place *place)
{
	uint64_t nr_bytes;

	if (!place->passing)
		return 0;
	nr_bytes = cgroup_group_peak(places->cgroup, &place->group);
	cgroup_group_destroy(&place->group);
	place->passing = false;
	return nr_bytes;
}
