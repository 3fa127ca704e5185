/* SPDX-License-Identifier: MIT */
/*
 * Aborting: a program that gives up, often since it got no memory, may still use its groups'
 * reserve, for what it does then: its handler of SIGABRT, or of a terminate in C++, allocates.
 */
#include <stdlib.h>

#include "abort.h"
#include "interpose.h"
#include "real.h"
#include "umemcg.h"

static struct real next = { .name = "abort" };

void abort_init(void)
{
	real_find(&next);
}

interposed void abort(void)
{
	void (*real_abort)(void) = real_find(&next);

	umemcg_reserve_enter();
	if (real_abort)
		real_abort();
	__builtin_trap();
}
