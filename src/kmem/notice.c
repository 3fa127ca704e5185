/* SPDX-License-Identifier: MIT */
#include "kmem/notice.h"

#include <stdatomic.h>
#include <stdint.h>

#include "charge/pause.h"

static _Atomic uint32_t nr_begun;
static atomic_bool is_held;

bool notice_begin(void)
{
	/* Add before the load; partner: notice_hold(). */
	atomic_fetch_add_explicit(&nr_begun, 1, memory_order_seq_cst);
	if (!atomic_load_explicit(&is_held, memory_order_seq_cst))
		return true;
	notice_end();
	return false;
}

void notice_end(void)
{
	atomic_fetch_sub_explicit(&nr_begun, 1, memory_order_release);
}

void notice_hold(void)
{
	atomic_store_explicit(&is_held, true, memory_order_seq_cst);
	for (unsigned int round = 0; atomic_load_explicit(&nr_begun, memory_order_seq_cst); round++)
		pause_briefly(round);
}

void notice_release(void)
{
	atomic_store_explicit(&is_held, false, memory_order_release);
}
