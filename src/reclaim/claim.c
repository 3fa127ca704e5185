/* SPDX-License-Identifier: MIT */
#include "reclaim/claim.h"

#include <stdatomic.h>

#include "base/compiler.h"
#include "base/table.h"
#include "charge/counter.h"
#include "group/group.h"

/* The calling thread's. */
static thread_local_fast struct {
	struct umemcg *group;
	uint64_t nr_bytes;
} own;

/* Threads that have a claim, or are about to. Relaxed: read where there are no others. */
static _Atomic uint32_t nr_claims;

/* Relaxed: a number of its own, beside usage that only falls here. */
static uint64_t claim(struct umemcg *group, uint64_t nr_bytes, uint64_t nr_bytes_spared)
{
	uint64_t claimed = atomic_load_explicit(&group->nr_bytes_claimed, memory_order_relaxed);
	uint64_t nr_claimed;

	do {
		uint64_t usage =
			atomic_load_explicit(&group_counter(group)->usage, memory_order_relaxed);
		uint64_t taken;

		if (__builtin_add_overflow(nr_bytes_spared, claimed, &taken) || taken >= usage)
			return 0;
		nr_claimed = min(nr_bytes, usage - taken);
	} while (!atomic_compare_exchange_weak_explicit(&group->nr_bytes_claimed, &claimed,
							claimed + nr_claimed, memory_order_relaxed,
							memory_order_relaxed));
	return nr_claimed;
}

uint64_t claim_begin(struct umemcg *group, uint64_t nr_bytes, uint64_t nr_bytes_spared)
{
	atomic_fetch_add_explicit(&nr_claims, 1, memory_order_relaxed);
	own.group = group;
	own.nr_bytes = claim(group, nr_bytes, nr_bytes_spared);
	if (!own.nr_bytes)
		atomic_fetch_sub_explicit(&nr_claims, 1, memory_order_relaxed);
	return own.nr_bytes;
}

void claim_end(void)
{
	atomic_fetch_sub_explicit(&own.group->nr_bytes_claimed, own.nr_bytes, memory_order_relaxed);
	own.nr_bytes = 0;
	atomic_fetch_sub_explicit(&nr_claims, 1, memory_order_relaxed);
}

/* All relaxed: nobody else is here. */
void claim_forget_others(void)
{
	uint32_t nr_own = own.nr_bytes ? 1 : 0;

	if (atomic_load_explicit(&nr_claims, memory_order_relaxed) == nr_own)
		return;
	for (uint32_t id = ROOT_COUNTER; table_has(&counter_table, id); id++)
		atomic_store_explicit(&group_row(id)->nr_bytes_claimed, 0, memory_order_relaxed);
	if (nr_own)
		atomic_store_explicit(&own.group->nr_bytes_claimed, own.nr_bytes,
				      memory_order_relaxed);
	atomic_store_explicit(&nr_claims, nr_own, memory_order_relaxed);
}
