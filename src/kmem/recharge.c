/* SPDX-License-Identifier: MIT */
/* Objects change their owner. */
#include <errno.h>

#include "base/init.h"
#include "charge/charge.h"
#include "charge/owner.h"
#include "kmem/again.h"
#include "kmem/check.h"
#include "kmem/heap.h"
#include "kmem/large.h"
#include "kmem/mapping.h"
#include "kmem/queue.h"
#include "umemcg.h"

struct umemcg *umemcg_owner(const void *object)
{
	struct page *page;
	uint32_t owner;

	if (!CONFIG_MEMCG)
		return umemcg_root();
	page = check_page_of(object);
	owner = page ? page_owner_of(page, object) : 0;
	return owner ? group_of_owner(owner) : umemcg_root();
}

/*
 * Make sure that the object has a tag of its own, so that nothing can fail once it is charged. Any
 * thread may do this: the page's own one goes on to free other objects of it meanwhile.
 */
static int make_tag(struct page *page)
{
	int r = 0;

	lock_get(&page->heap->lock);
	if (!page_tags(page))
		r = page_share(page);
	lock_put(&page->heap->lock);
	return r;
}

static void set_owner(struct page *page, void *object, uint32_t owner)
{
	if (page_kind(page) == PAGE_LARGE)
		large_set_owner(page, owner);
	else
		/* relaxed: the object is the caller's. */
		atomic_store_explicit(page_tag(page, page_tags(page), object), owner,
				      memory_order_relaxed);
}

static int move_charge(struct flight *flight, uint32_t from, uint32_t to, uint64_t nr_bytes)
{
	/* Owner 0 is that of what is not counted. */
	if (from && to)
		return charge_move(flight, from, to, nr_bytes);
	if (to)
		return charge_exactly(flight, to, nr_bytes);
	owner_uncharge(flight, from, nr_bytes);
	return 0;
}

static int recharge(struct page *page, void *object, uint32_t owner)
{
	uint32_t old_owner = page_owner_of(page, object);
	struct flight *flight = thread_flight();
	int r = 0;

	if (old_owner == owner)
		return 0;
	if (!flight)
		return -ENOMEM;
	if (page_kind(page) == PAGE_SMALL)
		r = make_tag(page);
	if (r)
		return r;
	/* A fork finds it charged to whom it belongs. */
	mapping_begin();
	r = move_charge(flight, old_owner, owner, page_charged_bytes(page));
	if (!r)
		set_owner(page, object, owner);
	mapping_end();
	return r;
}

int umemcg_recharge(void *object, struct umemcg *group)
{
	struct charge_attempt attempt = { 0 };
	struct page *page;
	int r;

	if (!CONFIG_MEMCG)
		return 0;
	page = check_page_of(object);
	if (!page)
		return -EINVAL;
	if (!library_counts(LIBRARY_COUNTS))
		return 0;
	do {
		if (group && !group_is_live(group))
			return -EINVAL;
		r = recharge(page, object, heap_owner_of(group));
	} while (r == -ENOMEM && thread_try_again(&attempt));
	return r;
}
