/* SPDX-License-Identifier: MIT */
#include "reclaim/callback.h"

#include <stddef.h>

#include "base/compiler.h"
#include "charge/flight.h"

/* The calling thread's, innermost first. */
static thread_local_fast struct callback *running;

void callback_begin(struct callback *callback, struct flight *flight, const void *of,
		    const void *item)
{
	*callback = (struct callback){
		.of = of,
		.item = item,
		.next = running,
		.reserve_depth = flight->reserve_depth,
	};
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
}

uint32_t callback_nr_own(const void *of)
{
	uint32_t nr = 0;

	for (const struct callback *callback = running; callback; callback = callback->next)
		nr += callback->of == of || callback->item == of;
	return nr;
}
