/* SPDX-License-Identifier: MIT */
#include "group/event.h"

#include "base/compiler.h"
#include "group/rare.h"

void (*event_wake)(struct umemcg *group, enum umemcg_event event, bool is_local);

void group_event(struct umemcg *group, enum umemcg_event event)
{
	bool is_local = true;

	/* A group without a limit has none until something happens to it. */
	if (rare_make(group))
		return;
	atomic_fetch_add_explicit(&rare_of(group)->events_local[event], 1, memory_order_relaxed);
	for (; group; group = group_parent(group)) {
		struct rare *rare = rare_of(group);

		/*
		 * acq_rel and acquire; partner: waker_join(). Whoever has subscribed and then finds
		 * the event not counted is woken by it.
		 */
		atomic_fetch_add_explicit(&rare->events[event], 1, memory_order_acq_rel);
		if (unlikely(atomic_load_explicit(&rare->waker, memory_order_acquire)))
			event_wake(group, event, is_local);
		is_local = false;
	}
}

void group_event_if_live(struct umemcg *group, enum umemcg_event event)
{
	group_lock();
	if (group_is_live(group))
		group_event(group, event);
	group_unlock();
}
