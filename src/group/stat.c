/* SPDX-License-Identifier: MIT */
/* What a group's current consists of. Slab is not counted at each object: it is the rest. */
#include "group/stat.h"

#include "charge/drain.h"
#include "charge/external.h"
#include "group/group.h"

static uint64_t load(const _Atomic uint64_t *sum)
{
	/* Relaxed: exact when nobody charges, a snapshot of single sums otherwise. */
	return atomic_load_explicit(sum, memory_order_relaxed);
}

/* But for what threads' stocks know of the explicit charges. */
static void add_own_kinds(const struct umemcg *group, struct umemcg_stat *stat)
{
	stat->nr_bytes_stack += load(&group->nr_bytes_stack);
	stat->nr_bytes_anon += load(&group->nr_bytes_anon);
	stat->nr_bytes_external += load(&group_counter(group)->external);
}

static void set_slab(struct umemcg_stat *stat)
{
	uint64_t others = stat->nr_bytes_stack + stat->nr_bytes_anon + stat->nr_bytes_external +
			  stat->nr_bytes_stock;

	/* Beside charging threads the sums are not of one instant, and may be more. */
	stat->nr_bytes_slab = stat->nr_bytes_current > others ? stat->nr_bytes_current - others : 0;
}

void group_get_stat(const struct umemcg *group, struct umemcg_stat *ret_stat)
{
	struct umemcg_stat stat = { .nr_bytes_current = load(&group_counter(group)->usage) };

	stat.nr_bytes_stock = drain_bytes_below(group->id);
	stat.nr_bytes_external = external_in_stocks(group->id);
	group_lock();
	for (const struct umemcg *below = group; below; below = group_next(below, group))
		add_own_kinds(below, &stat);
	group_unlock();
	set_slab(&stat);
	*ret_stat = stat;
}

void group_own(const struct umemcg *group, struct umemcg_stat *ret_stat)
{
	struct umemcg_stat stat = { .nr_bytes_current = load(&group_counter(group)->usage) };

	stat.nr_bytes_stock = drain_bytes_below(group->id);
	for (uint32_t id = group->first_child; id; id = group_row(id)->next_sibling) {
		stat.nr_bytes_current -= load(&counter_row(id)->usage);
		stat.nr_bytes_stock -= drain_bytes_below(id);
	}
	add_own_kinds(group, &stat);
	stat.nr_bytes_external = external_bytes(group->id);
	set_slab(&stat);
	*ret_stat = stat;
}
