/* SPDX-License-Identifier: MIT */
#include "shared/event.h"

static const char *const names[NR_SHARED_EVENTS] = {
	[SHARED_EVENT_LOW] = "low",
	[SHARED_EVENT_HIGH] = "high",
	[SHARED_EVENT_MAX] = "max",
	[SHARED_EVENT_OOM] = "oom",
	[SHARED_EVENT_OOM_KILL] = "oom_kill",
	[SHARED_EVENT_OOM_GROUP_KILL] = "oom_group_kill",
	[SHARED_EVENT_UNDERFLOW] = "underflow",
	[SHARED_EVENT_STALLED] = "stalled",
};

const char *event_name(enum shared_event event)
{
	return names[event];
}

void event_count(const struct segment *segment, uint32_t group, enum shared_event event)
{
	struct shared_group *row = segment_group(segment, group);

	/* relaxed, here and below: they order nothing. */
	if (row)
		atomic_fetch_add_explicit(&row->events_local[event], 1, memory_order_relaxed);
	/* No further than a tree may be deep, whatever the rows hold. */
	for (unsigned int level = 0; row && level <= SEGMENT_MAX_DEPTH; level++) {
		atomic_fetch_add_explicit(&row->events[event], 1, memory_order_relaxed);
		row = segment_group(
			segment, atomic_load_explicit(&row->counter.parent, memory_order_relaxed));
	}
}
