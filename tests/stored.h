/* SPDX-License-Identifier: MIT */
/* Pages that are charged and stored, as regions do it. */
#ifndef UMEMCG_TESTS_STORED_H
#define UMEMCG_TESTS_STORED_H

#include "group/kind.h"
#include "kmem/heap.h"
#include "pages.h"
#include "user/store.h"

/** stored_put - charge a page to a group, store it, and give back what is not kept */
static inline int stored_put(struct umemcg *group, const void *page, store_slot *ret_slot)
{
	struct flight *flight = thread_flight();
	uint64_t nr_bytes_kept = 0;
	int r = group_charge_kind(flight, group, KIND_ANON, PAGE);

	if (r)
		return r;
	r = store_put(group->owner, page, ret_slot, &nr_bytes_kept);
	if (nr_bytes_kept < PAGE)
		owner_uncharge_kind(flight, group->owner, KIND_ANON, PAGE - nr_bytes_kept);
	return r;
}

#endif
