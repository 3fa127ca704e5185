/* SPDX-License-Identifier: MIT */
#include "group/group.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "charge/charge.h"
#include "charge/overage.h"
#include "charge/owner.h"
#include "group/name.h"
#include "group/rare.h"

static struct table group_table;
struct umemcg first_groups[TABLE_NR_FIRST] aligned_to(CACHE_LINE);

/* Guards the tree, the names, and both tables' free rows; never held while charging. */
static pthread_mutex_t tree_lock = PTHREAD_MUTEX_INITIALIZER;

void group_lock(void)
{
	pthread_mutex_lock(&tree_lock);
}

void group_unlock(void)
{
	pthread_mutex_unlock(&tree_lock);
}

struct umemcg *group_row(uint32_t id)
{
	return table_row(&group_table, id);
}

struct umemcg *group_of_owner(uint32_t owner)
{
	return group_row(owner_counter(owner));
}

bool group_is_live(const struct umemcg *group)
{
	size_t offset = (const char *)group - (const char *)first_groups, nr_before = 0;

	if (offset >= sizeof(first_groups)) {
		nr_before = TABLE_NR_FIRST;
		offset = (const char *)group - group_table.rows - sizeof(first_groups);
	}
	/* Relaxed: whoever named the group to the caller has seen it made. */
	return offset % sizeof(*group) == 0 &&
	       table_has(&group_table, nr_before + offset / sizeof(*group)) &&
	       atomic_load_explicit(&group->is_live, memory_order_relaxed);
}

struct umemcg *group_parent(const struct umemcg *group)
{
	uint32_t parent = counter_parent(group->id);

	return parent ? group_row(parent) : NULL;
}

/* Everything but what others may look at. */
static void reset(struct umemcg *group)
{
	size_t start = offsetof(struct umemcg, owner);

	memset((char *)group + start, 0, sizeof(*group) - start);
}

/* A live group of the next free number, outside the tree. */
static struct umemcg *make(uint32_t parent)
{
	uint32_t id = counter_create(parent), row;
	struct umemcg *group;

	if (!id)
		return NULL;
	/*
	 * Rows of both tables are taken and given back together, here and in unmake() alone, so
	 * that both give out the same numbers; but for a row that this one has no memory for.
	 */
	row = table_get(&group_table);
	assert(row == id || !row);
	if (!row)
		goto no_group;
	group = group_row(id);
	reset(group);
	atomic_store_explicit(&group->holdings, 0, memory_order_relaxed);
	atomic_store_explicit(&group->nr_bytes_due, 0, memory_order_relaxed);
	group->owner = owner_create(id);
	if (!group->owner)
		goto no_owner;
	if (!group->id)
		group->id = id;
	atomic_store_explicit(&group->is_live, true, memory_order_relaxed);
	return group;

no_owner:
	table_put(&group_table, id);
no_group:
	counter_destroy(id);
	return NULL;
}

static void unmake(struct umemcg *group)
{
	uint32_t id = group->id;

	atomic_store_explicit(&group->is_live, false, memory_order_relaxed);
	rare_free(group);
	counter_destroy(id);
	table_put(&group_table, id);
}

int group_init(void)
{
	if (counter_table_init() || owner_table_init() || name_init(&group_table) || rare_init() ||
	    table_init(&group_table, sizeof(struct umemcg), counter_table.nr_max, first_groups))
		return -ENOMEM;
	return make(0) ? 0 : -ENOMEM;
}

static bool may_have_another(const struct umemcg *parent)
{
	uint32_t levels = 1;

	if (counter_depth(parent->id) == COUNTER_MAX_DEPTH)
		return false;
	for (; parent; parent = group_parent(parent), levels++) {
		const struct rare *rare = rare_of(parent);

		if (parent->nr_descendants >= rare->max_descendants || levels > rare->max_depth)
			return false;
	}
	return true;
}

static void link_below(struct umemcg *parent, struct umemcg *group)
{
	group->next_sibling = parent->first_child;
	if (parent->first_child)
		group_row(parent->first_child)->prev_sibling = group->id;
	parent->first_child = group->id;
	for (; parent; parent = group_parent(parent))
		parent->nr_descendants++;
}

static void unlink_from(struct umemcg *parent, struct umemcg *group)
{
	if (group->next_sibling)
		group_row(group->next_sibling)->prev_sibling = group->prev_sibling;
	if (group->prev_sibling)
		group_row(group->prev_sibling)->next_sibling = group->next_sibling;
	else
		parent->first_child = group->next_sibling;
	for (; parent; parent = group_parent(parent))
		parent->nr_descendants--;
}

static int create_locked(struct umemcg *parent, const char *name, struct umemcg **ret_group)
{
	struct umemcg *group;

	if (name && name_find(parent->id, name, strlen(name)))
		return -EEXIST;
	if (!may_have_another(parent))
		return -EAGAIN;
	if (group_path_length_locked(parent) + 1 + (name ? strlen(name) : NAME_OF_ID_MAX) >=
	    UMEMCG_PATH_MAX)
		return -ENAMETOOLONG;
	group = make(parent->id);
	if (!group)
		return -ENOMEM;
	if (name && name_add(group, name)) {
		owner_bequeath(group->owner, parent->owner, 0);
		unmake(group);
		return -ENOMEM;
	}
	link_below(parent, group);
	*ret_group = group;
	return 0;
}

int group_create(struct umemcg *parent, const char *name, struct umemcg **ret_group)
{
	int r = name ? name_check(name) : 0;

	if (r)
		return r;
	group_lock();
	r = create_locked(parent, name, ret_group);
	group_unlock();
	return r;
}

static struct group_bequest *bequests;

void group_add_bequest(struct group_bequest *bequest)
{
	bequest->next = bequests;
	bequests = bequest;
}

/* Stopped, drained, and nobody uncharging: the heir takes over what the group still has. */
static void bequeath(struct umemcg *group, struct umemcg *heir)
{
	struct counter *counter = group_counter(group), *its = group_counter(heir);
	/* Relaxed: whoever counted here has landed, and has been waited for. */
	uint64_t external = atomic_load_explicit(&counter->external, memory_order_relaxed);
	uint64_t stack = atomic_load_explicit(&group->nr_bytes_stack, memory_order_relaxed);
	uint64_t anon = atomic_load_explicit(&group->nr_bytes_anon, memory_order_relaxed);

	atomic_fetch_add_explicit(&its->external, external, memory_order_relaxed);
	atomic_fetch_add_explicit(&heir->nr_bytes_stack, stack, memory_order_relaxed);
	atomic_fetch_add_explicit(&heir->nr_bytes_anon, anon, memory_order_relaxed);
	/* Relaxed: who asks has seen the destruction return. */
	atomic_store_explicit(&heir->has_inherited, true, memory_order_relaxed);
	owner_bequeath(group->owner, heir->owner,
		       atomic_load_explicit(&counter->usage, memory_order_relaxed));
}

static int destroy_locked(struct flight *flight, struct umemcg *group)
{
	struct umemcg *parent = group_parent(group);

	if (group->first_child)
		return -EBUSY;
	if (charge_stop_below(flight, group->id))
		return -ETIME;
	/* Store before the loads; partner: flight_begin_uncharge(). */
	atomic_store_explicit(&group_counter(group)->dying, 1, memory_order_seq_cst);
	flight_wait_uncharges(group->id);
	bequeath(group, parent);
	charge_go_on(flight, group->id);
	for (struct group_bequest *bequest = bequests; bequest; bequest = bequest->next)
		bequest->bequeath(group, parent);
	name_remove(group);
	unlink_from(parent, group);
	unmake(group);
	return 0;
}

int group_destroy(struct flight *flight, struct umemcg *group)
{
	int r;

	if (group->id == ROOT_COUNTER)
		return -EINVAL;
	if (!flight)
		return -ENOMEM;
	group_lock();
	r = group->nr_visits ? -EAGAIN : destroy_locked(flight, group);
	group_unlock();
	return r;
}

/* What a limit or a reserve brings, made before the first refusal, which must need no memory. */
static int prepare_limit(struct umemcg *group)
{
	int r = rare_make(group);

	if (r)
		return r;
	group_lock();
	r = counter_make_limit(group->id);
	group_unlock();
	return r;
}

int group_set_max(struct flight *flight, struct umemcg *group, uint64_t max)
{
	uint64_t current;
	int r;

	if (group->id == ROOT_COUNTER)
		return -EINVAL;
	r = flight ? prepare_limit(group) : -ENOMEM;
	if (r)
		return r;
	/* Stopped, so that no charge that saw the old limit is added under the new one. */
	if (charge_stop_below(flight, group->id))
		return -ETIME;
	counter_set_max(group->id, max);
	current = atomic_load_explicit(&group_counter(group)->usage, memory_order_relaxed);
	charge_go_on(flight, group->id);
	return current > max ? -EBUSY : 0;
}

/* What has a limit of its own, of any sort, has the rows that go with it. */
static int prepare_setting(struct umemcg *group)
{
	return group->id == ROOT_COUNTER ? -EINVAL : prepare_limit(group);
}

/* Relaxed: whoever reclaims or throttles next may see it. */
int group_set_min(struct umemcg *group, uint64_t nr_bytes)
{
	int r = prepare_setting(group);

	if (!r)
		atomic_store_explicit(&counter_limit(group_counter(group))->min, nr_bytes,
				      memory_order_relaxed);
	return r;
}

int group_set_low(struct umemcg *group, uint64_t nr_bytes)
{
	int r = prepare_setting(group);

	if (!r)
		atomic_store_explicit(&counter_limit(group_counter(group))->low, nr_bytes,
				      memory_order_relaxed);
	return r;
}

int group_set_high(struct umemcg *group, uint64_t nr_bytes)
{
	int r = prepare_setting(group);

	if (!r)
		overage_set_high(group->id, nr_bytes);
	return r;
}

int group_set_reserve(struct umemcg *group, uint64_t nr_bytes)
{
	int r = prepare_setting(group);

	if (r)
		return r;
	group_lock();
	counter_set_reserve(group->id, nr_bytes);
	group_unlock();
	return 0;
}

void group_drain(struct flight *flight, struct umemcg *group)
{
	if (flight && !charge_stop_below(flight, group->id))
		charge_go_on(flight, group->id);
}
