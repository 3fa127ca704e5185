/* SPDX-License-Identifier: MIT */
/* The public calls for waiting above high, and for pressure: check arguments, delegate. */
#include "umemcg.h"

#include <errno.h>
#include <stdlib.h>

#include "base/init.h"
#include "charge/switch.h"
#include "group/group.h"
#include "kmem/heap.h"
#include "reclaim/alarm.h"
#include "reclaim/high.h"
#include "reclaim/reclaim.h"
#include "reclaim/subscription.h"
#include "reclaim/watch.h"

/* A constant where the controller is not compiled in, so that nothing behind it is linked. */
#define is_counting() (CONFIG_MEMCG && library_counts(LIBRARY_COUNTS))

uint64_t umemcg_throttle(void)
{
	struct flight *flight = is_counting() ? thread_flight() : NULL;
	struct umemcg *group = umemcg_current();

	if (!flight)
		return 0;
	return high_throttle(flight, group_is_live(group) ? group : group_root(), false);
}

void umemcg_throttle_cancel(struct umemcg *group)
{
	if (!is_counting())
		return;
	if (!group)
		group = group_root();
	if (group_is_live(group))
		high_cancel(group);
}

/* Where nothing is counted nothing stalls either. */
static int subscribe_to_nothing(int *ret_eventfd)
{
	uint32_t row;
	int r;

	subscription_lock();
	r = subscription_make(1, &row);
	if (!r)
		*ret_eventfd = (int)subscription_row(row)->eventfd;
	subscription_unlock();
	return r;
}

static int unsubscribe_from_nothing(int eventfd)
{
	uint32_t row;

	subscription_lock();
	row = eventfd < 0 ? 0 : subscription_find(eventfd);
	if (row)
		subscription_free(row);
	subscription_unlock();
	return row ? 0 : -EINVAL;
}

int umemcg_pressure_subscribe(struct umemcg *group, const char *trigger, int *ret_eventfd)
{
	struct trigger parsed;

	if (!trigger || !ret_eventfd || trigger_parse(trigger, &parsed))
		return -EINVAL;
	library_init();
	if (!is_counting())
		return subscribe_to_nothing(ret_eventfd);
	return alarm_add(group ? group : group_root(), &parsed, ret_eventfd);
}

int umemcg_pressure_unsubscribe(int eventfd)
{
	library_init();
	return is_counting() ? alarm_remove(eventfd) : unsubscribe_from_nothing(eventfd);
}

/* Pressure is told of again and again while it lasts; so much at a time leaves most of a cache. */
#define WATCH_DIVISOR 16u

static void reclaim_a_part(void)
{
	struct flight *flight = thread_flight();

	if (flight)
		reclaim_until(flight, group_root(),
			      reclaim_count(flight, group_root()) / WATCH_DIVISOR);
}

int umemcg_pressure_watch(void)
{
	if (!is_counting())
		return -EOPNOTSUPP;
	return watch_start(secure_getenv("MEMORY_PRESSURE_WATCH"),
			   secure_getenv("MEMORY_PRESSURE_WRITE"), reclaim_a_part);
}
