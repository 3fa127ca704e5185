/* SPDX-License-Identifier: MIT */
#include "reclaim/lru.h"

#include <errno.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/system.h"
#include "base/table.h"
#include "group/group.h"
#include "reclaim/callback.h"
#include "reclaim/holdings.h"
#include "reclaim/reclaim.h"

#define NR_LRUS_MAX    (1u << 20)
#define NR_ENTRIES_MAX (1u << 26)

/* In place of a list. */
enum { LRU_EVICTED = NR_LRU_LISTS, LRU_FREE };

/* That come down at once, while the lock is held. */
#define NR_BALANCED 32u

static struct table lru_table, entry_table;

/* Entries whose callback is running; a fork child looks for them only if there are any. */
static uint32_t nr_evicted;

static struct umemcg_lru_entry *entry_row(uint32_t row)
{
	return table_row(&entry_table, row);
}

static uint32_t row_of(const struct umemcg_lru_entry *entry)
{
	return (uint32_t)(((const char *)entry - entry_table.rows) / sizeof(*entry));
}

static int make_table(struct table *table, size_t row_size, uint32_t nr_max)
{
	return table->rows ? 0 : table_init(table, row_size, nr_max, NULL);
}

/* ---- lists, all locked ---- */

static struct holdings *holdings_of_entry(struct umemcg_lru_entry *entry)
{
	return holdings_row(holdings_live(&entry->holdings));
}

static void lru_update_size(struct lru_ends *ends, int64_t nr_bytes, int nr_entries)
{
	ends->nr_bytes += (uint64_t)nr_bytes;
	ends->nr_entries += (uint64_t)(int64_t)nr_entries;
}

static void list_remove(struct umemcg_lru_entry *entry)
{
	struct lru_ends *ends = &holdings_of_entry(entry)->lists[entry->list];

	if (entry->next)
		entry_row(entry->next)->prev = entry->prev;
	else
		ends->last = entry->prev;
	if (entry->prev)
		entry_row(entry->prev)->next = entry->next;
	else
		ends->first = entry->next;
	lru_update_size(ends, -(int64_t)entry->nr_bytes, -1);
}

static void list_add(struct umemcg_lru_entry *entry, uint32_t list)
{
	struct lru_ends *ends = &holdings_of_entry(entry)->lists[list];
	uint32_t row = row_of(entry);

	entry->list = list;
	entry->prev = 0;
	entry->next = ends->first;
	if (ends->first)
		entry_row(ends->first)->prev = row;
	else
		ends->last = row;
	ends->first = row;
	lru_update_size(ends, (int64_t)entry->nr_bytes, 1);
}

static void list_add_last(struct umemcg_lru_entry *entry, uint32_t list)
{
	struct lru_ends *ends = &holdings_of_entry(entry)->lists[list];
	uint32_t row = row_of(entry);

	entry->list = list;
	entry->next = 0;
	entry->prev = ends->last;
	if (ends->last)
		entry_row(ends->last)->next = row;
	else
		ends->first = row;
	ends->last = row;
	lru_update_size(ends, (int64_t)entry->nr_bytes, 1);
}

static void move(struct umemcg_lru_entry *entry, uint32_t list)
{
	list_remove(entry);
	list_add(entry, list);
}

/* Hang one list behind another: its entries are the older ones. */
static void append(struct lru_ends *ends, struct lru_ends *behind)
{
	if (!behind->first)
		return;
	entry_row(behind->first)->prev = ends->last;
	if (ends->last)
		entry_row(ends->last)->next = behind->first;
	else
		ends->first = behind->first;
	ends->last = behind->last;
	lru_update_size(ends, (int64_t)behind->nr_bytes, 0);
	ends->nr_entries += behind->nr_entries;
	*behind = (struct lru_ends){ 0 };
}

/* What a scan left alone is the oldest; also what one left that was lost in a fork, or whose group
 * was destroyed. */
static void put_back(struct holdings *holdings)
{
	while (holdings->lists[LRU_ASIDE].first) {
		struct umemcg_lru_entry *entry = entry_row(holdings->lists[LRU_ASIDE].first);

		list_remove(entry);
		list_add_last(entry, LRU_INACTIVE);
	}
}

void lru_bequeath(struct holdings *from, struct holdings *to)
{
	for (unsigned int list = 0; list < NR_LRU_LISTS; list++)
		append(&to->lists[list], &from->lists[list]);
}

/* ---- kinds and entries ---- */

int lru_create(enum umemcg_lru_status (*evict)(void *object, void *arg), void *arg,
	       struct umemcg_lru **ret_lru)
{
	struct umemcg_lru *lru = NULL;
	uint32_t row = 0;

	holdings_lock();
	if (!make_table(&lru_table, sizeof(*lru), NR_LRUS_MAX))
		row = table_get(&lru_table);
	if (row) {
		lru = table_row(&lru_table, row);
		*lru = (struct umemcg_lru){ .evict = evict, .arg = arg };
	}
	holdings_unlock();
	if (!lru)
		return -ENOMEM;
	*ret_lru = lru;
	return 0;
}

int lru_destroy(struct umemcg_lru *lru)
{
	int r = 0;

	holdings_lock();
	/* Its last objects may be on their way out. */
	while (lru->nr_entries && lru->nr_entries == lru->nr_evicted && !callback_nr_own(lru))
		holdings_wait(UINT64_MAX);
	if (lru->nr_entries)
		r = -EBUSY;
	else
		table_put(&lru_table, (uint32_t)(((char *)lru - lru_table.rows) / sizeof(*lru)));
	holdings_unlock();
	return r;
}

static int add_locked(struct umemcg_lru *lru, struct umemcg *group, void *object, uint64_t nr_bytes,
		      struct umemcg_lru_entry **ret_entry)
{
	struct umemcg_lru_entry *entry;
	uint32_t row, holdings;
	int r;

	if (make_table(&entry_table, sizeof(*entry), NR_ENTRIES_MAX))
		return -ENOMEM;
	row = table_get(&entry_table);
	if (!row)
		return -ENOMEM;
	r = holdings_get(group, &holdings);
	if (r) {
		table_put(&entry_table, row);
		return r;
	}
	entry = entry_row(row);
	atomic_store_explicit(&entry->is_touched, 0, memory_order_relaxed);
	entry->holdings = holdings;
	entry->lru = lru;
	entry->object = object;
	entry->nr_bytes = nr_bytes;
	list_add(entry, LRU_INACTIVE);
	lru->nr_entries++;
	*ret_entry = entry;
	return 0;
}

int lru_add(struct umemcg_lru *lru, struct umemcg *group, void *object, uint64_t nr_bytes,
	    struct umemcg_lru_entry **ret_entry)
{
	int r;

	holdings_lock();
	r = add_locked(lru, group, object, nr_bytes, ret_entry);
	holdings_unlock();
	if (!r)
		atomic_store_explicit(&reclaim_is_possible, true, memory_order_relaxed);
	return r;
}

/* Locked: of no list. */
static void free_entry(struct umemcg_lru_entry *entry)
{
	entry->list = LRU_FREE;
	entry->lru->nr_entries--;
	holdings_put(entry->holdings);
	table_put(&entry_table, row_of(entry));
}

int lru_remove(struct umemcg_lru_entry *entry)
{
	int r = 0;

	holdings_lock();
	if (entry->list == LRU_EVICTED) {
		r = -EBUSY;
	} else {
		list_remove(entry);
		free_entry(entry);
	}
	holdings_unlock();
	return r;
}

/* ---- eviction ---- */

static struct holdings *lists_of(const struct umemcg *group)
{
	uint32_t row = holdings_of(group);

	return row ? holdings_row(row) : NULL;
}

/* Locked. */
static struct lru_ends sum_lists(const struct holdings *holdings)
{
	struct lru_ends sum = { 0 };

	for (unsigned int list = 0; holdings && list < NR_LRU_LISTS; list++) {
		sum.nr_bytes += holdings->lists[list].nr_bytes;
		sum.nr_entries += holdings->lists[list].nr_entries;
	}
	return sum;
}

uint64_t lru_count(struct umemcg *group)
{
	uint64_t nr_bytes;

	holdings_lock();
	nr_bytes = sum_lists(lists_of(group)).nr_bytes;
	holdings_unlock();
	return nr_bytes;
}

/* Locked: the active ones that were not used for longest come down while they are the more. */
static void balance(struct holdings *holdings)
{
	const struct lru_ends *active = &holdings->lists[LRU_ACTIVE];
	const struct lru_ends *inactive = &holdings->lists[LRU_INACTIVE];

	for (unsigned int i = 0;
	     i < NR_BALANCED && active->last && active->nr_bytes > inactive->nr_bytes; i++) {
		struct umemcg_lru_entry *entry = entry_row(active->last);

		/* Touched while it was there: from now on that counts anew. */
		atomic_store_explicit(&entry->is_touched, 0, memory_order_relaxed);
		move(entry, LRU_INACTIVE);
	}
}

/* Locked, and unlocked for the callback. Return: bytes that it says were given back. */
static uint64_t evict(struct flight *flight, struct umemcg_lru_entry *entry,
		      const struct umemcg *group)
{
	struct umemcg_lru *lru = entry->lru;
	uint64_t nr_bytes = entry->nr_bytes;
	struct callback callback;
	enum umemcg_lru_status status;

	list_remove(entry);
	entry->list = LRU_EVICTED;
	lru->nr_evicted++;
	nr_evicted++;
	holdings_unlock();
	callback_begin(&callback, flight, lru, entry);
	status = lru->evict(entry->object, lru->arg);
	callback_end(&callback, flight);
	holdings_lock();
	lru->nr_evicted--;
	nr_evicted--;
	holdings_wake();
	if (status == UMEMCG_LRU_REMOVED) {
		free_entry(entry);
		return nr_bytes;
	}
	if (status == UMEMCG_LRU_ROTATE)
		list_add(entry, LRU_ACTIVE);
	else if (holdings_of_entry(entry)->group == group->id)
		list_add(entry, LRU_ASIDE);
	else
		list_add_last(entry, LRU_INACTIVE);
	return 0;
}

void lru_scan(struct flight *flight, struct umemcg *group, uint64_t nr_bytes, uint64_t deadline_ns)
{
	struct holdings *holdings;
	uint64_t nr_given = 0, nr_left;

	holdings_lock();
	holdings = lists_of(group);
	if (holdings)
		put_back(holdings);
	/* Each may be met in the active list, then in the inactive one. */
	nr_left = 2 * sum_lists(holdings).nr_entries;
	for (; nr_left && nr_given < nr_bytes; nr_left--) {
		struct umemcg_lru_entry *entry;

		/* Another group's, once this one is gone: its callbacks may destroy it. */
		holdings = lists_of(group);
		if (!holdings || system_now_ns() >= deadline_ns)
			break;
		balance(holdings);
		if (!holdings->lists[LRU_INACTIVE].last)
			break;
		entry = entry_row(holdings->lists[LRU_INACTIVE].last);
		if (atomic_exchange_explicit(&entry->is_touched, 0, memory_order_relaxed))
			move(entry, LRU_ACTIVE);
		else
			nr_given += evict(flight, entry, group);
	}
	holdings = lists_of(group);
	if (holdings)
		put_back(holdings);
	holdings_unlock();
}

/* The callbacks of threads that were lost did nothing that is known: the objects are still there.
 */
void lru_forget_others(void)
{
	/* Relaxed: nobody else is here. */
	uint32_t nr_used = atomic_load_explicit(&entry_table.nr_used, memory_order_relaxed);

	for (uint32_t row = 1; nr_evicted && row < nr_used; row++) {
		struct umemcg_lru_entry *entry = entry_row(row);

		if (entry->list != LRU_EVICTED || callback_nr_own(entry))
			continue;
		entry->lru->nr_evicted--;
		nr_evicted--;
		list_add(entry, LRU_INACTIVE);
	}
}
