/* SPDX-License-Identifier: MIT */
#include "reclaim/pressure.h"

#include <errno.h>
#include <string.h>

#include "base/system.h"
#include "base/table.h"
#include "charge/above.h"
#include "charge/charge.h"
#include "charge/overage.h"
#include "charge/owner.h"
#include "kmem/heap.h"
#include "kmem/lock.h"
#include "reclaim/alarm.h"

#define NR_PRESSURES_MAX (1u << 24)

/* "full" is that much behind threads that enter and leave groups: counting them costs. */
#define COUNT_NS 10000000u

static struct table pressure_table;
static struct pressure first_pressures[TABLE_NR_FIRST];

/*
 * Of all rows, and of what flights say of stalls; held for as long as a path is walked. Inside it
 * nothing is waited for but memory of the table's.
 */
static struct lock lock;

/* The calling thread holds it; a handler that touches a region meanwhile is not counted. */
static thread_local_fast bool is_at_work;

static uint32_t count; /* of threads: so many so far */
static uint64_t counted_ns;

void pressure_lock(void)
{
	is_at_work = true;
	/* Partner: the handler, which runs on this thread. */
	atomic_signal_fence(memory_order_seq_cst);
	lock_get(&lock);
}

void pressure_unlock(void)
{
	lock_put(&lock);
	atomic_signal_fence(memory_order_seq_cst);
	is_at_work = false;
}

struct pressure *pressure_of(const struct umemcg *group)
{
	/* Relaxed: it changes under the lock. */
	uint32_t row = atomic_load_explicit(&group->pressure, memory_order_relaxed);

	return row ? table_row(&pressure_table, row) : NULL;
}

struct pressure *pressure_make(struct umemcg *group, uint64_t now_ns)
{
	struct pressure *pressure = pressure_of(group);
	uint32_t row;

	if (pressure)
		return pressure;
	row = table_get(&pressure_table);
	if (!row)
		return NULL;
	pressure = table_row(&pressure_table, row);
	memset(pressure, 0, sizeof(*pressure));
	average_init(&pressure->average, now_ns);
	/* Threads are counted anew, for they were not counted here. */
	counted_ns = 0;
	atomic_store_explicit(&group->pressure, row, memory_order_relaxed);
	return pressure;
}

void pressure_account(struct pressure *pressure, uint64_t now_ns)
{
	const bool is_stalled[AVERAGE_NR_STATES] = {
		[AVERAGE_SOME] = pressure->nr_stalled > 0,
		[AVERAGE_FULL] = pressure->is_full,
	};

	average_advance(&pressure->average, is_stalled, now_ns);
	alarm_update(pressure, now_ns);
}

/* ---- how many threads there are ---- */

static void count_thread(const struct umemcg *group, void *arg)
{
	(void)arg;
	for (; group; group = group_parent(group)) {
		struct pressure *pressure = pressure_of(group);

		if (!pressure)
			continue;
		if (pressure->count != count)
			pressure->nr_threads = 0;
		pressure->count = count;
		pressure->nr_threads++;
	}
}

static void count_threads(uint64_t now_ns)
{
	if (count && now_ns - counted_ns < COUNT_NS)
		return;
	counted_ns = now_ns;
	count++;
	heap_peek_groups(count_thread, NULL);
}

/* The row's state until it is looked at again. */
static void set_state(struct pressure *pressure, uint64_t now_ns)
{
	uint32_t nr_threads = pressure->count == count ? pressure->nr_threads : 0;

	pressure->is_full = pressure->nr_stalled && pressure->nr_stalled >= nr_threads;
	if (pressure->alarms)
		alarm_look_later(pressure, now_ns);
}

void pressure_refresh(struct pressure *pressure, uint64_t now_ns)
{
	pressure_account(pressure, now_ns);
	count_threads(now_ns);
	set_state(pressure, now_ns);
}

/* ---- stalls ---- */

/* Along the path from a counter: so many threads more are stalled, or fewer. */
static void change_path(uint32_t at, int nr_more, uint64_t now_ns)
{
	for (struct umemcg *group = group_row(at); group; group = group_parent(group)) {
		/* Without memory for it the stall is not counted here. */
		struct pressure *pressure =
			nr_more > 0 ? pressure_make(group, now_ns) : pressure_of(group);

		if (!pressure)
			continue;
		pressure_account(pressure, now_ns);
		if (nr_more > 0 || pressure->nr_stalled)
			pressure->nr_stalled += (uint32_t)nr_more;
	}
	if (nr_more >= 0)
		count_threads(now_ns);
	for (struct umemcg *group = group_row(at); group; group = group_parent(group))
		if (pressure_of(group))
			set_state(pressure_of(group), now_ns);
}

static struct flight *own_flight(void)
{
	return thread.heap ? &thread.heap->flight : NULL;
}

void pressure_begin(uint32_t owner)
{
	struct flight *flight = own_flight();

	if (!flight || flight->nr_stalls++ || is_at_work)
		return;
	pressure_lock();
	/* Locked: a group that is destroyed hands over its stalls afterwards, or is its heir here.
	 */
	flight->stalled_at = owner_counter(owner);
	change_path(flight->stalled_at, 1, system_now_ns());
	pressure_unlock();
	if (charge_above)
		charge_above->stall_begin(flight);
}

/* Locked. */
static void end(struct flight *flight)
{
	if (flight->stalled_at)
		change_path(flight->stalled_at, -1, system_now_ns());
	flight->stalled_at = 0;
}

void pressure_end(uint32_t owner)
{
	struct flight *flight = own_flight();

	(void)owner;
	if (!flight || !flight->nr_stalls || --flight->nr_stalls || is_at_work)
		return;
	if (charge_above)
		charge_above->stall_end(flight);
	pressure_lock();
	end(flight);
	pressure_unlock();
}

static void forget(struct flight *flight)
{
	if (!flight->nr_stalls)
		return;
	flight->nr_stalls = 0;
	if (charge_above)
		charge_above->stall_end(flight);
	pressure_lock();
	end(flight);
	pressure_unlock();
}

void pressure_look(void)
{
	struct flight *flight = own_flight();

	if (!flight || is_at_work)
		return;
	pressure_lock();
	if (flight->stalled_at)
		change_path(flight->stalled_at, 0, system_now_ns());
	pressure_unlock();
}

void pressure_read(const struct umemcg *group, struct average *ret_average)
{
	struct pressure *pressure;

	memset(ret_average, 0, sizeof(*ret_average));
	pressure_lock();
	pressure = pressure_of(group);
	if (pressure) {
		pressure_refresh(pressure, system_now_ns());
		*ret_average = pressure->average;
	}
	pressure_unlock();
}

/* ---- groups and processes that go ---- */

/* The tree is locked. Those above have counted what was stalled here all the time. */
static void bequeath(struct umemcg *group, struct umemcg *heir)
{
	struct pressure *pressure;

	pressure_lock();
	pressure = pressure_of(group);
	if (pressure) {
		for (struct flight *flight = flight_first(); pressure->nr_stalled && flight;
		     flight = flight->next)
			if (flight->stalled_at == group->id)
				flight->stalled_at = heir->id;
		alarm_end(pressure);
		table_put(&pressure_table,
			  atomic_exchange_explicit(&group->pressure, 0, memory_order_relaxed));
	}
	pressure_unlock();
	/* Who is throttled for the group looks again, and finds it gone. Release pairs with the
	 * acquire in high.c. */
	atomic_fetch_add_explicit(&group->nr_cancels, 1, memory_order_release);
	if (overage_is_possible())
		overage_wake();
}

void pressure_forget_others(void)
{
	struct flight *mine = own_flight();
	uint64_t now_ns = system_now_ns();

	/* First: what follows counts time, and must wake nobody of the parent's. */
	alarm_forget_all();
	for (struct flight *flight = flight_first(); flight; flight = flight->next) {
		if (flight == mine)
			continue;
		if (flight->stalled_at)
			change_path(flight->stalled_at, -1, now_ns);
		flight->stalled_at = 0;
		flight->nr_stalls = 0;
	}
	counted_ns = 0;
	count = 0;
}

int pressure_init(void)
{
	static struct group_bequest bequest = { .bequeath = bequeath };

	if (alarm_init() ||
	    table_init(&pressure_table, sizeof(struct pressure), NR_PRESSURES_MAX, first_pressures))
		return -ENOMEM;
	group_add_bequest(&bequest);
	charge_ops.stall_forget = forget;
	return 0;
}
