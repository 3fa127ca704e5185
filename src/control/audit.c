/* SPDX-License-Identifier: MIT */
#include "control/audit.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "base/system.h"
#include "group/group.h"
#include "group/stat.h"
#include "kmem/heap.h"
#include "kmem/mapping.h"
#include "user/region.h"
#include "user/store.h"

/* What was found of one group's, by kind. Explicit charges leave nothing that could be found. */
struct found {
	uint64_t nr_bytes[KIND_EXTERNAL];
};

struct audit_walk {
	struct umemcg_audit audit;
	struct found *found; /* by the group's id */
	uint64_t worst_difference;
};

static void count(struct audit_walk *walk, uint32_t owner, enum kind kind, uint64_t nr_bytes)
{
	if (!owner)
		return;
	walk->found[group_of_owner(owner)->id].nr_bytes[kind] += nr_bytes;
	walk->audit.nr_bytes_walked += nr_bytes;
}

static int count_object(void *object, size_t nr_bytes, uint32_t owner, void *arg)
{
	struct audit_walk *walk = arg;

	(void)object;
	walk->audit.nr_objects++;
	count(walk, owner, KIND_SLAB, nr_bytes);
	return 0;
}

static void count_mapping(const struct mapping *mapping, void *arg)
{
	count(arg, mapping->owner, mapping->kind, mapping->nr_bytes);
}

static void count_pages(uint32_t owner, uint64_t nr_bytes, void *arg)
{
	count(arg, owner, KIND_ANON, nr_bytes);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static int compare_group(struct umemcg *group, void *arg)
{
	struct audit_walk *walk = arg;
	const uint64_t *found = walk->found[group->id].nr_bytes;
	struct umemcg_stat books;
	uint64_t difference;

	group_own(group, &books);
	difference = distance(found[KIND_SLAB], books.nr_bytes_slab) +
		     distance(found[KIND_STACK], books.nr_bytes_stack) +
		     distance(found[KIND_ANON], books.nr_bytes_anon);
	walk->audit.nr_groups++;
	walk->audit.nr_bytes_walked += books.nr_bytes_external;
	walk->audit.nr_bytes_charged += books.nr_bytes_slab + books.nr_bytes_stack +
					books.nr_bytes_anon + books.nr_bytes_external;
	walk->audit.nr_bytes_difference += difference;
	if (difference > walk->worst_difference) {
		walk->worst_difference = difference;
		walk->audit.worst = group;
	}
	return 0;
}

int audit(struct umemcg_audit *ret_audit)
{
	struct audit_walk walk = { 0 };
	/* Relaxed: nobody makes a group meanwhile. */
	size_t nr_rows = atomic_load_explicit(&counter_table.nr_used, memory_order_relaxed);
	size_t size = nr_rows * sizeof(struct found);
	int r;

	walk.found =
		system_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (walk.found == MAP_FAILED)
		return -ENOMEM;
	r = heap_walk(count_object, &walk);
	if (!r) {
		mapping_walk(count_mapping, &walk);
		region_walk(count_pages, &walk);
		store_walk(count_pages, &walk);
		group_walk(group_root(), compare_group, &walk);
	}
	system_munmap(walk.found, size);
	if (r)
		return r;
	*ret_audit = walk.audit;
	return walk.audit.nr_bytes_difference ? -EUCLEAN : 0;
}
