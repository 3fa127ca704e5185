/* SPDX-License-Identifier: MIT */
#include "user/account.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "base/index.h"
#include "charge/counter.h"
#include "group/group.h"

#define NR_ACCOUNTS_MAX (1u << 24)

/* Compressed pages may take one in so many of the bytes of each limit above them. */
#define POOL_SHARE 2u

static struct table account_table;
static struct index by_owner;
static bool is_made;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void account_lock(void)
{
	pthread_mutex_lock(&lock);
}

void account_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

int account_init(void)
{
	int r = 0;

	if (!account_table.rows)
		r = table_init(&account_table, sizeof(struct account), NR_ACCOUNTS_MAX, NULL);
	if (!r && !is_made)
		r = index_init(&by_owner, &account_table, offsetof(struct account, key),
			       offsetof(struct account, index_link));
	is_made = !r;
	return r;
}

struct account *account_row(uint32_t account)
{
	return table_row(&account_table, account);
}

static uint32_t account_find(const struct umemcg *group)
{
	return index_find(&by_owner, group->owner);
}

void account_ref(uint32_t account)
{
	account_row(account)->nr_refs++;
}

void account_unref(uint32_t account)
{
	while (account && !--account_row(account)->nr_refs) {
		uint32_t parent = account_row(account)->parent;

		table_put(&account_table, account);
		account = parent;
	}
}

static uint32_t account_create(const struct umemcg *group, uint32_t parent)
{
	uint32_t account = table_get(&account_table);

	if (!account)
		return 0;
	*account_row(account) = (struct account){
		.key = group->owner,
		.group = group->id,
		.parent = parent,
		.nr_refs = 1,
		.swap_max = UINT64_MAX,
	};
	if (parent)
		account_ref(parent);
	index_add(&by_owner, account);
	return account;
}

/* The highest group from @group upwards that has none; NULL if all have. */
static const struct umemcg *highest_without(const struct umemcg *group)
{
	const struct umemcg *without = NULL;

	for (; group; group = group_parent(group))
		if (!account_find(group))
			without = group;
	return without;
}

/* With the lock of the tree: a path is made from the root down. */
static uint32_t account_make(const struct umemcg *group)
{
	const struct umemcg *without;

	while ((without = highest_without(group))) {
		const struct umemcg *parent = group_parent(without);

		if (!account_create(without, parent ? account_find(parent) : 0))
			return 0;
	}
	return account_find(group);
}

uint32_t account_lock_of(uint32_t owner)
{
	uint32_t account;

	account_lock();
	account = index_find(&by_owner, owner);
	if (account)
		return account;
	account_unlock();
	/* The first page of a group's, or of one that is gone: then its heir's it is. */
	group_lock();
	account_lock();
	account = account_make(group_of_owner(owner));
	group_unlock();
	if (!account)
		account_unlock();
	return account;
}

void account_read(const struct umemcg *group, struct account_counts *ret_counts,
		  uint64_t *ret_swap_max)
{
	uint32_t account;

	account_lock();
	account = is_made ? account_find(group) : 0;
	*ret_counts = account ? account_row(account)->counts : (struct account_counts){ 0 };
	*ret_swap_max = account ? account_row(account)->swap_max : UINT64_MAX;
	account_unlock();
}

int account_set_swap_max(const struct umemcg *group, uint64_t nr_bytes)
{
	uint32_t account = account_lock_of(group->owner);

	if (!account)
		return -ENOMEM;
	account_row(account)->swap_max = nr_bytes;
	account_unlock();
	return 0;
}

bool account_pool_may_grow(uint32_t account, uint64_t nr_bytes)
{
	for (; account; account = account_row(account)->parent) {
		const struct account *level = account_row(account);
		uint64_t max;

		if (!level->group)
			continue;
		/* relaxed: a limit that changes meanwhile holds for the next page. */
		max = atomic_load_explicit(&counter_row(level->group)->max, memory_order_relaxed);
		if (max != UINT64_MAX && level->counts.nr_bytes_pool + nr_bytes > max / POOL_SHARE)
			return false;
	}
	return true;
}

/* The lowest level that has no room; 0 if there is room. */
static uint32_t swap_full_at(uint32_t account, uint64_t nr_bytes)
{
	for (; account; account = account_row(account)->parent) {
		const struct account *level = account_row(account);

		if (level->group && (level->counts.nr_bytes_swap > level->swap_max ||
				     nr_bytes > level->swap_max - level->counts.nr_bytes_swap))
			return account;
	}
	return 0;
}

int account_charge_swap(uint32_t account, uint64_t nr_bytes)
{
	uint32_t full = swap_full_at(account, nr_bytes);

	if (full) {
		account_add(full, nr_swap_max, 1);
		return -ENOSPC;
	}
	for (; account; account = account_row(account)->parent) {
		struct account_counts *counts = &account_row(account)->counts;

		counts->nr_bytes_swap += nr_bytes;
		counts->nr_bytes_swap_peak = max(counts->nr_bytes_swap_peak, counts->nr_bytes_swap);
	}
	return 0;
}

void account_uncharge_swap(uint32_t account, uint64_t nr_bytes)
{
	account_add(account, nr_bytes_swap, -nr_bytes);
}

void account_bequeath(struct umemcg *group, struct umemcg *heir)
{
	uint32_t account;

	(void)heir;
	account_lock();
	account = index_find(&by_owner, group->owner);
	if (account) {
		index_remove(&by_owner, account);
		account_row(account)->group = 0;
		account_unref(account);
	}
	account_unlock();
}

/* Those of live groups stay, with their settings; the others are gone with what they had. */
void account_forget(void)
{
	/* relaxed: a child of fork is alone. */
	uint32_t nr_used = atomic_load_explicit(&account_table.nr_used, memory_order_relaxed);
	struct account *row;

	/* First each is held once, then by those below, and at last the dead let go of themselves.
	 */
	for (uint32_t account = 1; account < nr_used; account++) {
		row = account_row(account);
		memset(&row->counts, 0, sizeof(row->counts));
		row->pool = (struct pool){ 0 };
		row->nr_refs = min(row->nr_refs, 1u);
	}
	for (uint32_t account = 1; account < nr_used; account++) {
		row = account_row(account);
		if (row->nr_refs && row->parent)
			account_ref(row->parent);
	}
	for (uint32_t account = 1; account < nr_used; account++) {
		row = account_row(account);
		if (row->nr_refs && !row->group)
			account_unref(account);
	}
}
