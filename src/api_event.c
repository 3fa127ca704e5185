/* SPDX-License-Identifier: MIT */
/* The public calls about events, and about what follows a charge that does not fit. */
#include "umemcg.h"

#include <errno.h>

#include "base/init.h"
#include "charge/switch.h"
#include "group/rare.h"
#include "reclaim/policy.h"
#include "reclaim/subscription.h"
#include "reclaim/waker.h"
#include "reclaim/worker.h"

#define ALL_EVENTS ((1u << UMEMCG_NR_EVENTS) - 1)

/* A constant where the controller is not compiled in, so that nothing behind it is linked. */
#define is_counting() (CONFIG_MEMCG && library_counts(LIBRARY_COUNTS))

static int join(struct umemcg *group, uint32_t row)
{
	int r = group_is_live(group) ? waker_join(group, row) : -EINVAL;

	if (r)
		subscription_free(row);
	return r;
}

/* Where nothing is counted nothing happens either. */
static int subscribe_to_nothing(unsigned int events, int *ret_eventfd)
{
	uint32_t row;
	int r;

	subscription_lock();
	r = subscription_make(events, &row);
	if (!r)
		*ret_eventfd = (int)subscription_row(row)->eventfd;
	subscription_unlock();
	return r;
}

static int subscribe(struct umemcg *group, unsigned int events, int *ret_eventfd)
{
	uint32_t row;
	int r;

	if (!group_is_live(group))
		return -EINVAL;
	r = rare_make(group) ? -ENOMEM : worker_start();
	if (r)
		return r;
	group_lock();
	subscription_lock();
	r = subscription_make(events, &row);
	if (!r)
		r = join(group, row);
	if (!r)
		*ret_eventfd = (int)subscription_row(row)->eventfd;
	subscription_unlock();
	group_unlock();
	return r;
}

int umemcg_event_subscribe(struct umemcg *group, unsigned int events, int *ret_eventfd)
{
	if (!ret_eventfd || !(events & ALL_EVENTS) || events & ~(ALL_EVENTS | UMEMCG_EVENT_LOCAL))
		return -EINVAL;
	library_init();
	if (!is_counting())
		return subscribe_to_nothing(events, ret_eventfd);
	return subscribe(group ? group : group_root(), events, ret_eventfd);
}

int umemcg_event_unsubscribe(int eventfd)
{
	uint32_t row;

	if (eventfd < 0)
		return -EINVAL;
	library_init();
	subscription_lock();
	row = subscription_find(eventfd);
	if (row && CONFIG_MEMCG)
		waker_leave(row);
	if (row)
		subscription_free(row);
	subscription_unlock();
	return row ? 0 : -EINVAL;
}

int umemcg_set_oom_policy(struct umemcg *group, enum umemcg_oom_policy policy,
			  bool (*callback)(struct umemcg *group,
					   const struct umemcg_failure *failure, void *arg),
			  void *arg)
{
	if (!is_counting())
		return 0;
	if (!group || !group_is_live(group))
		return -EINVAL;
	switch (policy) {
	case UMEMCG_OOM_CALLBACK:
		return callback ? policy_set(group, policy, callback, arg) : -EINVAL;
	case UMEMCG_OOM_FAIL:
	case UMEMCG_OOM_KILL:
		return policy_set(group, policy, NULL, NULL);
	}
	return -EINVAL;
}
