/* SPDX-License-Identifier: MIT */
#include "group/event.h"

#include "group/rare.h"

void group_event(struct umemcg *group, enum umemcg_event event)
{
	/* A group without a limit has none until something happens to it. */
	if (rare_make(group))
		return;
	atomic_fetch_add_explicit(&rare_of(group)->events_local[event], 1, memory_order_relaxed);
	for (; group; group = group_parent(group))
		atomic_fetch_add_explicit(&rare_of(group)->events[event], 1, memory_order_relaxed);
}
