/* SPDX-License-Identifier: MIT */
#include "kmem/mapping.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/index.h"
#include "base/table.h"
#include "charge/pause.h"
#include "group/kind.h"
#include "kmem/heap.h"

#define NR_MAPPINGS_MAX (1u << 26)

/* Keys of heads: no address has this bit. */
#define HEAD_KEY ((uint64_t)1 << 63)

void (*mapping_walk_others)(void (*visit)(const struct mapping *mapping, void *arg), void *arg);

static struct table mapping_table;
static struct index by_key;

/* Guards both, and the lists. Never held while anything is charged, mapped or unmapped. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Threads that are making or ending a mapping, and a fork that waits for them, or has stopped them.
 */
static _Atomic unsigned int nr_inside;
static _Atomic bool is_forking;
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER;

/* The calling thread is forking. */
static thread_local_fast bool forks;

/* How deep the calling thread is in mapping_begin(). */
static thread_local_fast unsigned int depth_inside;

static struct mapping *mapping_row(uint32_t row)
{
	return table_row(&mapping_table, row);
}

int mapping_init(void)
{
	int r = table_init(&mapping_table, sizeof(struct mapping), NR_MAPPINGS_MAX, NULL);

	if (r)
		return r;
	return index_init(&by_key, &mapping_table, offsetof(struct mapping, key),
			  offsetof(struct mapping, link));
}

void mapping_lock(void)
{
	pthread_mutex_lock(&lock);
}

void mapping_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

int mapping_whole_pages(size_t nr_bytes, size_t *ret_nr_bytes)
{
	size_t mask = (size_t)sysconf(_SC_PAGESIZE) - 1;

	/* Half of all address space is more than there is: no sum with a guard can overflow. */
	if (nr_bytes > SIZE_MAX / 2)
		return -ENOMEM;
	*ret_nr_bytes = (nr_bytes + mask) & ~mask;
	return 0;
}

/* A thread does not wait for its own fork. */
static bool must_wait(void)
{
	return !forks && atomic_load_explicit(&is_forking, memory_order_seq_cst);
}

/* Each side stores first and loads second, both seq_cst, so that one of them sees the other. */
void mapping_begin(void)
{
	if (depth_inside++)
		return;
	atomic_fetch_add_explicit(&nr_inside, 1, memory_order_seq_cst);
	for (unsigned int round = 0; must_wait(); round++) {
		atomic_fetch_sub_explicit(&nr_inside, 1, memory_order_seq_cst);
		pause_briefly(round);
		atomic_fetch_add_explicit(&nr_inside, 1, memory_order_seq_cst);
	}
}

void mapping_end(void)
{
	/* release: pairs with the load in mapping_fork_begin(). */
	if (!--depth_inside)
		atomic_fetch_sub_explicit(&nr_inside, 1, memory_order_release);
}

bool mapping_is_inside(void)
{
	return depth_inside != 0;
}

bool mapping_others_are_inside(void)
{
	/* relaxed: they may come and go. */
	return atomic_load_explicit(&nr_inside, memory_order_relaxed) > (depth_inside ? 1u : 0u);
}

/* A thread that forks from within, in what runs on behalf of a charge, does not wait for itself. */
static unsigned int nr_own(void)
{
	return depth_inside ? 1 : 0;
}

void mapping_fork_begin(void)
{
	/* Two forks at once: the second one waits here. */
	pthread_mutex_lock(&fork_lock);
	forks = true;
	atomic_store_explicit(&is_forking, true, memory_order_seq_cst);
	for (unsigned int round = 0;
	     atomic_load_explicit(&nr_inside, memory_order_seq_cst) > nr_own(); round++)
		pause_briefly(round);
	mapping_lock();
}

void mapping_fork_end(void)
{
	mapping_unlock();
	forks = false;
	/* release: pairs with the load in mapping_begin(). */
	atomic_store_explicit(&is_forking, false, memory_order_release);
	pthread_mutex_unlock(&fork_lock);
}

/* Those who were on their way in, and had counted themselves for an instant, are not here. */
void mapping_fork_end_in_child(void)
{
	atomic_store_explicit(&nr_inside, nr_own(), memory_order_relaxed);
	mapping_fork_end();
}

bool mapping_thread_forks(void)
{
	return forks;
}

static uint32_t row_create(uint64_t key)
{
	uint32_t row = table_get(&mapping_table);

	if (!row)
		return 0;
	*mapping_row(row) = (struct mapping){ .key = key, .next = row, .prev = row };
	index_add(&by_key, row);
	return row;
}

static void row_destroy(uint32_t row)
{
	index_remove(&by_key, row);
	mapping_row(row)->nr_bytes = 0;
	table_put(&mapping_table, row);
}

/* Put @row, alone in its ring or with others, into the ring of @head. */
static void ring_join(uint32_t head, uint32_t row)
{
	uint32_t last = mapping_row(row)->prev;
	uint32_t after = mapping_row(head)->next;

	mapping_row(head)->next = row;
	mapping_row(row)->prev = head;
	mapping_row(last)->next = after;
	mapping_row(after)->prev = last;
}

static void ring_leave(uint32_t row)
{
	struct mapping *mapping = mapping_row(row);

	mapping_row(mapping->prev)->next = mapping->next;
	mapping_row(mapping->next)->prev = mapping->prev;
	mapping->next = mapping->prev = row;
}

static bool is_lone_head(uint32_t row)
{
	const struct mapping *mapping = mapping_row(row);

	return mapping->next == row && mapping->key & HEAD_KEY;
}

static uint32_t list_of(uint32_t owner)
{
	return index_find(&by_key, HEAD_KEY | owner);
}

static uint32_t list_get(uint32_t owner)
{
	uint32_t head = list_of(owner);

	return head ? head : row_create(HEAD_KEY | owner);
}

static int record(const struct mapping *mapping)
{
	bool listed = mapping->owner && mapping->kind == KIND_ANON;
	uint32_t head = listed ? list_get(mapping->owner) : 0;
	uint32_t row;

	if (listed && !head)
		return -ENOMEM;
	row = row_create(mapping->key);
	if (!row) {
		if (listed && is_lone_head(head))
			row_destroy(head);
		return -ENOMEM;
	}
	mapping_row(row)->owner = mapping->owner;
	mapping_row(row)->nr_bytes = mapping->nr_bytes;
	mapping_row(row)->kind = mapping->kind;
	if (listed)
		ring_join(head, row);
	return 0;
}

int mapping_charge(struct umemcg *group, enum kind kind, const void *address, uint64_t nr_bytes)
{
	struct mapping mapping = { .key = (uintptr_t)address, .nr_bytes = nr_bytes, .kind = kind };
	int r;

	if (CONFIG_MEMCG && switch_counts(kind)) {
		struct flight *flight = thread_flight();

		r = flight ? group_charge_kind(flight, group, kind, nr_bytes) : -ENOMEM;
		if (r)
			return r;
		mapping.owner = group->owner;
	}
	mapping_lock();
	r = record(&mapping);
	mapping_unlock();
	if (r)
		mapping_uncharge(&mapping);
	return r;
}

static void forget(uint32_t row, struct mapping *ret_mapping)
{
	uint32_t neighbour = mapping_row(row)->next;

	*ret_mapping = *mapping_row(row);
	ring_leave(row);
	row_destroy(row);
	if (neighbour != row && is_lone_head(neighbour))
		row_destroy(neighbour);
}

int mapping_forget(enum kind kind, const void *address, struct mapping *ret_mapping)
{
	int r = -EINVAL;
	uint32_t row;

	mapping_lock();
	row = index_find(&by_key, (uintptr_t)address);
	if (row && mapping_row(row)->kind == (uint32_t)kind) {
		forget(row, ret_mapping);
		r = 0;
	}
	mapping_unlock();
	return r;
}

int mapping_forget_region_of(uint32_t owner, struct mapping *ret_mapping)
{
	uint32_t head;

	mapping_lock();
	head = list_of(owner);
	if (head)
		forget(mapping_row(head)->next, ret_mapping);
	mapping_unlock();
	return head ? 0 : -ENOENT;
}

uint64_t mapping_next_region_of(uint32_t owner)
{
	uint64_t key = 0;
	uint32_t head;

	mapping_lock();
	head = list_of(owner);
	if (head) {
		uint32_t row = mapping_row(head)->next;

		key = mapping_row(row)->key;
		/* To the end of the list, which is in front of its head. */
		ring_leave(row);
		ring_join(mapping_row(head)->prev, row);
	}
	mapping_unlock();
	return key;
}

bool mapping_has_region(const void *address, uint64_t nr_bytes)
{
	uint64_t first = (uintptr_t)address;
	bool has = false;

	mapping_lock();
	for (uint32_t row = 1; row < mapping_table.nr_used && !has; row++) {
		const struct mapping *mapping = mapping_row(row);

		has = mapping->nr_bytes && mapping->kind == KIND_ANON && first >= mapping->key &&
		      first - mapping->key < mapping->nr_bytes &&
		      nr_bytes <= mapping->nr_bytes - (first - mapping->key);
	}
	mapping_unlock();
	return has;
}

void mapping_uncharge(const struct mapping *mapping)
{
	struct flight *flight = CONFIG_MEMCG && mapping->owner ? thread_flight() : NULL;

	/* No memory for this thread's first record: what it gives back stays charged. */
	if (flight)
		owner_uncharge_kind(flight, mapping->owner, mapping->kind, mapping->nr_bytes);
}

void mapping_walk(void (*visit)(const struct mapping *mapping, void *arg), void *arg)
{
	mapping_lock();
	for (uint32_t row = 1; row < mapping_table.nr_used; row++)
		if (mapping_row(row)->nr_bytes)
			visit(mapping_row(row), arg);
	mapping_unlock();
	if (mapping_walk_others)
		mapping_walk_others(visit, arg);
}

/*
 * The head itself takes the heir's name, unless the heir has a list already: then it goes, and
 * what followed it follows the heir's head.
 */
void mapping_bequeath(uint32_t owner, uint32_t heir)
{
	uint32_t head = list_of(owner);
	uint32_t heirs_head = list_of(heir);
	uint32_t first;

	if (!head)
		return;
	if (!heirs_head) {
		index_remove(&by_key, head);
		mapping_row(head)->key = HEAD_KEY | heir;
		index_add(&by_key, head);
		return;
	}
	first = mapping_row(head)->next;
	ring_leave(head);
	row_destroy(head);
	ring_join(heirs_head, first);
}
