/* SPDX-License-Identifier: MIT */
/*
 * A callback of the program's, while it runs: the thread may use the reserves, and what it cannot
 * allocate itself is refused without another reclaim.
 */
#ifndef UMEMCG_RECLAIM_CALLBACK_H
#define UMEMCG_RECLAIM_CALLBACK_H

#include <stdbool.h>
#include <stdint.h>

struct flight;

/* On the stack of the thread that calls. */
struct callback {
	const void *of, *item; /* whose it is, and what it is about, or NULL */
	struct callback *next; /* that it was called from */
	uint32_t reserve_depth;
	int cancel_state; /* of the thread before it, which is not cancelled meanwhile */
};

/**
 * callback_may_begin - may the calling thread call the program now?
 *
 * Not from within a callback, nor while it charges, as in the handler of a signal.
 */
bool callback_may_begin(const struct flight *flight);

/** callback_begin - with no lock held; @flight is the thread's */
void callback_begin(struct callback *callback, struct flight *flight, const void *of,
		    const void *item);
void callback_end(struct callback *callback, struct flight *flight);

/** callback_nr_own - how many callbacks of, or about, this is the calling thread in? */
uint32_t callback_nr_own(const void *of);

#endif
