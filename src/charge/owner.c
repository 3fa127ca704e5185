/* SPDX-License-Identifier: MIT */
#include "charge/owner.h"

#include <pthread.h>

#include "base/compiler.h"
#include "base/table.h"
#include "charge/charge.h"
#include "charge/counter.h"
#include "charge/flight.h"

#define NR_OWNERS_MAX (1u << 27)

static struct table owner_table;
static struct owner first_owners[TABLE_NR_FIRST] aligned_to(CACHE_LINE);

/*
 * Guards the table's free rows; owners that are gone free themselves from any thread. Taken under
 * the tree's lock or in flight, so nobody has it at a fork (charge_hold()).
 */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static struct owner *owner_row(uint32_t owner)
{
	return table_row(&owner_table, owner);
}

int owner_table_init(void)
{
	return table_init(&owner_table, sizeof(struct owner), NR_OWNERS_MAX, first_owners);
}

uint32_t owner_create(uint32_t counter)
{
	uint32_t owner;

	pthread_mutex_lock(&table_lock);
	owner = table_get(&owner_table);
	pthread_mutex_unlock(&table_lock);
	if (!owner)
		return 0;
	atomic_store_explicit(&owner_row(owner)->remaining, 0, memory_order_relaxed);
	/* Release pairs with the acquire in owner_counter(). */
	atomic_store_explicit(&owner_row(owner)->counter, counter, memory_order_release);
	return owner;
}

static void owner_free(uint32_t owner)
{
	pthread_mutex_lock(&table_lock);
	table_put(&owner_table, owner);
	/* An empty stock may still be bound to it: whatever that does now must end somewhere. */
	atomic_store_explicit(&owner_row(owner)->counter, ROOT_COUNTER, memory_order_release);
	pthread_mutex_unlock(&table_lock);
}

void owner_bequeath(uint32_t owner, uint32_t heir, uint64_t nr_bytes)
{
	struct owner *row = owner_row(owner);

	atomic_store_explicit(&row->heir, heir, memory_order_relaxed);
	atomic_store_explicit(&row->remaining, nr_bytes, memory_order_relaxed);
	/* After heir and remaining; seq_cst: flights look again after they published. */
	atomic_store_explicit(&row->counter, 0, memory_order_seq_cst);
	if (!nr_bytes)
		owner_free(owner);
}

/* relaxed: ordered by the store of 0 to counter, which the caller has loaded. */
static uint32_t heir_of(uint32_t owner)
{
	return atomic_load_explicit(&owner_row(owner)->heir, memory_order_relaxed);
}

uint32_t owner_counter(uint32_t owner)
{
	uint32_t counter;

	/* seq_cst: stands after flight_publish() when a flight looks again. */
	while (!(counter = atomic_load_explicit(&owner_row(owner)->counter, memory_order_seq_cst)))
		owner = heir_of(owner);
	return counter;
}

bool owner_is_gone(uint32_t owner)
{
	return !atomic_load_explicit(&owner_row(owner)->counter, memory_order_acquire);
}

void owner_charge_gone(uint32_t owner, uint64_t nr_bytes)
{
	for (; owner_is_gone(owner); owner = heir_of(owner))
		atomic_fetch_add_explicit(&owner_row(owner)->remaining, nr_bytes,
					  memory_order_relaxed);
}

/* True if nothing remains: whoever takes the last byte frees the row. */
static bool take_remaining(struct owner *row, uint64_t nr_bytes)
{
	uint64_t remaining = atomic_load_explicit(&row->remaining, memory_order_relaxed);

	while (remaining) {
		uint64_t left = remaining > nr_bytes ? remaining - nr_bytes : 0;

		/* acq_rel: the last one comes after all that others did with the row. */
		if (atomic_compare_exchange_weak_explicit(&row->remaining, &remaining, left,
							  memory_order_acq_rel,
							  memory_order_relaxed))
			return !left;
	}
	return false;
}

void owner_uncharge_gone(uint32_t owner, uint64_t nr_bytes)
{
	/* An heir has at least what is charged through whom it inherits from: it outlives it. */
	while (owner_is_gone(owner)) {
		uint32_t heir = heir_of(owner);

		if (take_remaining(owner_row(owner), nr_bytes))
			owner_free(owner);
		owner = heir;
	}
}

void owner_uncharge(struct flight *flight, uint32_t owner, uint64_t nr_bytes)
{
	uint32_t counter;

	/* Release pairs with a fork child, which does for us what we did not come to. */
	atomic_store_explicit(&flight->nr_repaid, nr_bytes, memory_order_relaxed);
	atomic_store_explicit(&flight->repaying, owner, memory_order_release);
	counter = flight_begin_uncharge(flight, owner);
	owner_uncharge_gone(owner, nr_bytes);
	counter_sub(counter, 0, nr_bytes);
	/* Before it ends, which flight_hold() waits for. */
	atomic_store_explicit(&flight->repaying, 0, memory_order_relaxed);
	flight_end_uncharge(flight);
}
