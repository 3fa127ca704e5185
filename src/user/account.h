/* SPDX-License-Identifier: MIT */
/*
 * Accounts: what a group and those below it have in the store.
 *
 * A group gets one when the first page of its is stored, or its swap.max is set, together with all
 * groups above it. What is stored names its account, not its group; so the account outlives the
 * group for as long as anything does, and what it has still counts for all that were above it.
 *
 * The lock of the store guards accounts, the pool and the map of the swap file. It may be taken
 * under that of the tree of groups, and no other is taken under it.
 */
#ifndef UMEMCG_USER_ACCOUNT_H
#define UMEMCG_USER_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "user/pool.h"

struct umemcg;

/* Sums over a group and those below it; they outlive those. */
struct account_counts {
	uint64_t nr_bytes_swap; /* in the swap file */
	uint64_t nr_bytes_swap_peak;
	uint64_t nr_bytes_pool;       /* pages that compressed ones take */
	uint64_t nr_bytes_compressed; /* pages that are compressed */
	uint64_t nr_pages_swap_out, nr_pages_swap_in;
	uint64_t nr_pages_pool_out, nr_pages_pool_in;
	uint64_t nr_swap_max;  /* events: swap.max was about to be passed */
	uint64_t nr_swap_fail; /* a page could not be written */
};

struct account {
	uint32_t link; /* the table's, while the row is free */
	uint32_t index_link;
	uint64_t key;     /* owner of the group */
	uint32_t group;   /* its id; 0 once it is gone */
	uint32_t parent;  /* account of the group above; 0 of the root's */
	uint32_t nr_refs; /* the group, accounts below, objects and pages that name it */
	uint64_t swap_max;
	struct pool pool;
	struct account_counts counts;
};

void account_lock(void);
void account_unlock(void);

/** account_init - 0 or -ENOMEM; locked; again only after an error */
int account_init(void);

/**
 * account_lock_of - take the lock, and find the account of an owner's group, or its heir's
 *
 * Return: its number, never 0, with the lock held; 0 without it if there is no memory.
 */
uint32_t account_lock_of(uint32_t owner);

/** account_read - the counts of a live group, and its swap.max; for those without the lock */
void account_read(const struct umemcg *group, struct account_counts *ret_counts,
		  uint64_t *ret_swap_max);

/** account_set_swap_max - 0 or -ENOMEM; for those without the lock */
int account_set_swap_max(const struct umemcg *group, uint64_t nr_bytes);

/* All that follows is for callers with the lock. */
struct account *account_row(uint32_t account);

/** account_ref - something names it; account_unref() - it does no longer, or the group is gone */
void account_ref(uint32_t account);
void account_unref(uint32_t account);

/** account_pool_may_grow - may a page be added to what the pool has for an account? */
bool account_pool_may_grow(uint32_t account, uint64_t nr_bytes);

/** account_charge_swap - count bytes in the swap file; -ENOSPC if a swap.max forbids it */
int account_charge_swap(uint32_t account, uint64_t nr_bytes);
void account_uncharge_swap(uint32_t account, uint64_t nr_bytes);

/* Of struct account_counts, for an account and all above it. */
#define account_add(account, count, n)                                                             \
	do {                                                                                       \
		for (uint32_t a_ = (account); a_; a_ = account_row(a_)->parent)                    \
			account_row(a_)->counts.count += (n);                                      \
	} while (0)

/** account_bequeath - a group is destroyed; under the lock of the tree */
void account_bequeath(struct umemcg *group, struct umemcg *heir);

/** account_forget - in a child of fork: nothing is stored */
void account_forget(void);

#endif
