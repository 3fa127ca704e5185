/* SPDX-License-Identifier: MIT */
#include "shared/relief.h"

#include "base/system.h"
#include "shared/ask.h"
#include "shared/kill.h"

bool relief_for(struct segment *segment, uint32_t asking, uint32_t group, uint64_t nr_bytes,
		uint64_t deadline_ns)
{
	const struct shared_group *full = segment_group(segment, group);

	/* relaxed: as it stands. */
	if (!full || nr_bytes > atomic_load_explicit(&full->counter.max, memory_order_relaxed))
		return false;
	/* Whoever is asked when the time is up has no moment to answer, and is left out then. */
	return (system_now_ns() < deadline_ns &&
		ask_below(segment, asking, group, nr_bytes, deadline_ns) > 0) ||
	       kill_for(segment, asking, group, nr_bytes);
}
