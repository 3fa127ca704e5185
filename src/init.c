/* SPDX-License-Identifier: MIT */
/* The library made ready once, and carried over forks: the order in which the floors do both. */
#include "base/init.h"

#include <pthread.h>

#include "base/report.h"
#include "charge/barrier.h"
#include "charge/switch.h"
#include "group/failure.h"
#include "group/group.h"
#include "kmem/heap.h"
#include "kmem/mapping.h"
#include "kmem/spawn.h"
#include "reclaim/claim.h"
#include "reclaim/holdings.h"
#include "reclaim/limit.h"
#include "reclaim/policy.h"
#include "reclaim/pressure.h"
#include "reclaim/subscription.h"
#include "reclaim/waker.h"
#include "reclaim/watch.h"
#include "reclaim/worker.h"
#include "shared/attach.h"
#include "user/region.h"
#include "user/store.h"

_Atomic bool library_is_ready;
_Atomic unsigned int library_counted;

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The calling thread is making the library ready. */
static thread_local_fast bool is_making;

static int init_groups(void)
{
	int r = group_init();

	if (r)
		return r;
	failure_init();
	limit_init();
	holdings_init();
	worker_init();
	waker_init();
	return pressure_init();
}

/*
 * The heap, and what lies below it, have handlers of their own. Those before a fork run in reverse
 * order, so that these, registered later, wait for mappings while charges can still end; those in
 * the child run in order, so that these find books that can be used again.
 */
static void before_fork(void)
{
	mapping_fork_begin();
	spawn_lock();
	if (CONFIG_MEMCG) {
		group_lock();
		holdings_lock();
		pressure_lock();
		store_fork_begin();
	}
}

static void release(void)
{
	if (CONFIG_MEMCG) {
		pressure_unlock();
		holdings_unlock();
		group_unlock();
	}
	spawn_unlock();
}

static void after_fork(void)
{
	if (CONFIG_MEMCG)
		store_fork_end();
	release();
	mapping_fork_end();
}

static void after_fork_in_child(void)
{
	if (CONFIG_MEMCG) {
		policy_forget_others();
		pressure_forget_others();
		claim_forget_others();
		watch_forget();
		holdings_forget_others();
	}
	release();
	mapping_fork_end_in_child();
	spawn_forget_others();
	if (CONFIG_MEMCG) {
		region_forget_all();
		store_fork_end_in_child();
	}
}

static unsigned int what_is_counted(void)
{
	unsigned int counted = LIBRARY_COUNTS | LIBRARY_DECIDED;

	if (!switch_is_on())
		return LIBRARY_DECIDED;
	for (unsigned int kind = 0; kind < NR_KINDS; kind++)
		if (switch_counts(kind))
			counted |= 1u << kind;
	return counted;
}

static void make_ready(void)
{
	is_making = true;
	switch_init();
	if (CONFIG_MEMCG)
		barrier_init();
	if (CONFIG_MEMCG && init_groups()) {
		report("no address space for the tables of groups: accounting is off");
		switch_read("cgroup_disable=memory");
	}
	if (CONFIG_MEMCG)
		attach_init();
	if (subscription_init())
		report("no memory to watch forks: a child may wake its parent's subscribers");
	if (heap_init())
		report("no address space for the heap: allocations will fail");
	if (mapping_init())
		report("no address space for the table of mappings: no stack or region can be made");
	if (CONFIG_MEMCG && region_init())
		report("no address space for the table of regions: they are charged when mapped");
	if (spawn_init())
		report("no address space for the table of threads: none can be made");
	if (pthread_atfork(before_fork, after_fork, after_fork_in_child))
		report("no memory to watch forks: a child may count the stacks of lost threads");
	/* release: pair with the acquires in base/init.h. */
	atomic_store_explicit(&library_counted, what_is_counted(), memory_order_release);
	atomic_store_explicit(&library_is_ready, true, memory_order_release);
	is_making = false;
}

void library_init_once(void)
{
	if (!is_making)
		pthread_once(&once, make_ready);
}
