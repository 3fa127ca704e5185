/* SPDX-License-Identifier: MIT */
/* The public calls that make memory reclaimable, and reclaim it: check arguments, delegate. */
#include "umemcg.h"

#include <errno.h>

#include "base/init.h"
#include "group/group.h"
#include "group/null.h"
#include "kmem/heap.h"
#include "reclaim/limit.h"
#include "reclaim/lru.h"
#include "reclaim/shrinker.h"
#include "shared/serve.h"

/* A constant where the controller is not compiled in, so that nothing behind it is linked. */
#define is_counting() (CONFIG_MEMCG && library_counts(LIBRARY_COUNTS))

/* The group that is named in a call; NULL if that is gone. */
static struct umemcg *named(struct umemcg *group)
{
	if (!group)
		return group_root();
	return group_is_live(group) ? group : NULL;
}

/* From the first of them on others in a shared tree may ask for what there is. Without a thread for
 * that they do not, and nothing else lacks. */
static int served(int r)
{
	if (CONFIG_MEMCG && !r)
		serve_start();
	return r;
}

void umemcg_set_reclaim_timeout(uint64_t timeout_us)
{
	if (is_counting())
		limit_set_timeout(timeout_us);
}

int umemcg_reclaim(struct umemcg *group, uint64_t nr_bytes)
{
	if (!is_counting())
		return nr_bytes ? -EAGAIN : 0;
	group = named(group);
	return group ? limit_reclaim(thread_flight(), group, nr_bytes) : -EINVAL;
}

int umemcg_shrinker_register(struct umemcg *group, const struct umemcg_shrinker_ops *ops, void *arg,
			     unsigned int flags, struct umemcg_shrinker **ret_shrinker)
{
	if (!ops || !ops->count || !ops->scan || !ret_shrinker || (flags & ~UMEMCG_SHRINKER_THREAD))
		return -EINVAL;
	if (!is_counting()) {
		*ret_shrinker = null_registered();
		return 0;
	}
	group = named(group);
	return group ? served(shrinker_register(group, ops, arg, flags, ret_shrinker)) : -EINVAL;
}

void umemcg_shrinker_unregister(struct umemcg_shrinker *shrinker)
{
	if (shrinker && is_counting())
		shrinker_unregister(shrinker);
}

int umemcg_lru_create(enum umemcg_lru_status (*evict)(void *object, void *arg), void *arg,
		      struct umemcg_lru **ret_lru)
{
	if (!evict || !ret_lru)
		return -EINVAL;
	if (!is_counting()) {
		*ret_lru = null_registered();
		return 0;
	}
	return served(lru_create(evict, arg, ret_lru));
}

int umemcg_lru_destroy(struct umemcg_lru *lru)
{
	return lru && is_counting() ? lru_destroy(lru) : 0;
}

int umemcg_lru_add(struct umemcg_lru *lru, struct umemcg *group, void *object, uint64_t nr_bytes,
		   struct umemcg_lru_entry **ret_entry)
{
	if (!lru || !ret_entry)
		return -EINVAL;
	if (!is_counting()) {
		*ret_entry = null_registered();
		return 0;
	}
	group = named(group);
	return group ? lru_add(lru, group, object, nr_bytes, ret_entry) : -EINVAL;
}

/* What was registered while nothing was counted is no row, and takes a touch as one. */
void umemcg_lru_touch(struct umemcg_lru_entry *entry)
{
	lru_touch(entry);
}

int umemcg_lru_remove(struct umemcg_lru_entry *entry)
{
	return entry && is_counting() ? lru_remove(entry) : 0;
}
