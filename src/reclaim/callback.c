/* SPDX-License-Identifier: MIT */
#include "reclaim/callback.h"

#include <pthread.h>
#include <stddef.h>

#include "base/compiler.h"
#include "charge/flight.h"
#include "kmem/heap.h"
#include "kmem/mapping.h"

/* The calling thread's, innermost first. */
static thread_local_fast struct callback *running;

bool callback_may_begin(const struct flight *flight)
{
	/* relaxed: the thread alone writes these. */
	return !flight->in_callback && !mapping_is_inside() && !thread.heap->is_at_work &&
	       !atomic_load_explicit(&flight->row->charging, memory_order_relaxed) &&
	       !atomic_load_explicit(&flight->row->uncharging, memory_order_relaxed);
}

void callback_begin(struct callback *callback, struct flight *flight, const void *of,
		    const void *item)
{
	*callback = (struct callback){
		.of = of,
		.item = item,
		.next = running,
		.reserve_depth = flight->reserve_depth,
	};
	/* What was begun for it must be ended, and the callback would be left by a cancellation. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &callback->cancel_state);
	running = callback;
	flight->in_callback++;
	flight->reserve_depth++;
}

/* Whatever it entered and did not leave. */
void callback_end(struct callback *callback, struct flight *flight)
{
	running = callback->next;
	flight->in_callback--;
	flight->reserve_depth = callback->reserve_depth;
	flight->refusal.at = 0;
	pthread_setcancelstate(callback->cancel_state, NULL);
}

uint32_t callback_nr_own(const void *of)
{
	uint32_t nr = 0;

	for (const struct callback *callback = running; callback; callback = callback->next)
		nr += callback->of == of || callback->item == of;
	return nr;
}
