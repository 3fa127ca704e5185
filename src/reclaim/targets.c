/* SPDX-License-Identifier: MIT */
#include "reclaim/targets.h"

#include <stdatomic.h>

#include "base/compiler.h"
#include "base/system.h"
#include "charge/counter.h"
#include "group/group.h"
#include "reclaim/protection.h"

/* relaxed: exact when nobody charges. */
static uint64_t usage_of(const struct umemcg *group)
{
	return atomic_load_explicit(&group_counter(group)->usage, memory_order_relaxed);
}

static uint64_t min_of(const struct umemcg *group)
{
	return atomic_load_explicit(&counter_limit(group_counter(group))->min,
				    memory_order_relaxed);
}

static uint64_t low_of(const struct umemcg *group)
{
	return atomic_load_explicit(&counter_limit(group_counter(group))->low,
				    memory_order_relaxed);
}

static void sum_children(struct target *target, const struct umemcg *group)
{
	for (uint32_t id = group->first_child; id; id = group_row(id)->next_sibling) {
		const struct umemcg *child = group_row(id);
		uint64_t usage = usage_of(child);

		target->children_min += protection_used(usage, min_of(child));
		target->children_low += protection_used(usage, low_of(child));
	}
}

/* What is below the top has protection; its children their own, whatever it has itself. */
static void protect(struct target *target, const struct umemcg *group, const struct target *parent,
		    bool is_below_top)
{
	uint64_t usage = target->nr_bytes_usage;

	if (is_below_top) {
		target->min = min_of(group);
		target->low = low_of(group);
		return;
	}
	target->min = protection_effective(protection_used(usage, min_of(group)),
					   parent->children_min, parent->min);
	target->low = protection_effective(protection_used(usage, low_of(group)),
					   parent->children_low, parent->low);
}

static void add(struct targets *targets, const struct umemcg *group, size_t parent)
{
	struct target *target = &targets->all[targets->nr];

	*target = (struct target){
		.id = group->id,
		.owner = group->owner,
		.parent = parent,
		.nr_bytes_usage = usage_of(group),
	};
	sum_children(target, group);
	if (targets->nr)
		protect(target, group, &targets->all[parent], parent == 0);
	targets->nr++;
}

/* Climb from the target that was added last. */
static size_t find_parent(const struct targets *targets, const struct umemcg *group)
{
	uint32_t id = counter_parent(group->id);
	size_t at = targets->nr - 1;

	while (at && targets->all[at].id != id)
		at = targets->all[at].parent;
	return at;
}

/* Without memory the first ones have to do. */
static void make_place(struct targets *targets, uint32_t nr_groups)
{
	size_t size = (size_t)nr_groups * sizeof(struct target);

	targets->all = targets->on_stack;
	targets->nr_max = NR_TARGETS_ON_STACK;
	if (nr_groups <= NR_TARGETS_ON_STACK)
		return;
	targets->all =
		system_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (targets->all == MAP_FAILED)
		targets->all = targets->on_stack;
	else
		targets->nr_max = nr_groups;
}

void targets_find(struct targets *targets, struct umemcg *top)
{
	targets->nr = 0;
	group_lock();
	make_place(targets, group_is_live(top) ? top->nr_descendants + 1 : 0);
	if (group_is_live(top))
		add(targets, top, 0);
	for (struct umemcg *group = top; targets->nr && targets->nr < targets->nr_max;) {
		group = group_next(group, top);
		if (!group)
			break;
		/* What uses nothing has nothing below it either. */
		if (usage_of(group))
			add(targets, group, find_parent(targets, group));
	}
	group_unlock();
}

void targets_free(struct targets *targets)
{
	if (targets->all != targets->on_stack)
		system_munmap(targets->all, targets->nr_max * sizeof(struct target));
}

/* Another one that has taken row and owner since is as good: what is reclaimed there is given back.
 */
struct umemcg *target_group(const struct target *target)
{
	struct umemcg *group = group_row(target->id);
	bool is_same;

	group_lock();
	is_same = group_is_live(group) && group->owner == target->owner;
	group_unlock();
	return is_same ? group : NULL;
}
