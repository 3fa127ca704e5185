/* SPDX-License-Identifier: MIT */
#include "reclaim/reclaim.h"

#include <stdatomic.h>

#include "charge/flight.h"
#include "kmem/heap.h"

_Atomic bool reclaim_is_possible;

bool reclaim_may(const struct flight *flight)
{
	/* relaxed: the thread alone writes it. */
	return !flight->in_callback && !thread.heap->is_at_work &&
	       !atomic_load_explicit(&flight->row->charging, memory_order_relaxed) &&
	       !atomic_load_explicit(&flight->row->uncharging, memory_order_relaxed);
}

uint64_t reclaim(struct flight *flight, struct umemcg *top, uint64_t nr_bytes, uint64_t deadline_ns)
{
	(void)flight;
	(void)top;
	(void)nr_bytes;
	(void)deadline_ns;
	return 0;
}
