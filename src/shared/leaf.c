/* SPDX-License-Identifier: MIT */
#include "shared/leaf.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/report.h"
#include "charge/above.h"
#include "charge/barrier.h"
#include "charge/charge.h"
#include "charge/counter.h"
#include "charge/drain.h"
#include "charge/flight.h"
#include "charge/owner.h"
#include "charge/window.h"
#include "group/group.h"
#include "reclaim/limit.h"
#include "reclaim/pressure.h"
#include "reclaim/reclaim.h"
#include "shared/ask.h"
#include "shared/chunk.h"
#include "shared/climb.h"
#include "shared/decide.h"
#include "shared/relief.h"
#include "shared/ring.h"
#include "shared/serve.h"
#include "shared/slot.h"
#include "shared/stall.h"
#include "shared/thread.h"
#include "shared/throttle.h"
#include "shared/tree.h"

/* The tree that this process charges, and the group that it is below. Set once. */
static struct segment *own;
static uint32_t own_group;

static bool is_frozen(void)
{
	return climb_is_frozen(own, own_group);
}

static bool holds_image(void)
{
	/* relaxed: it changes while nobody is in flight. */
	return atomic_load_explicit(&segment_process(own, own->process)->image,
				    memory_order_relaxed);
}

/* What is given back while an image is held lowers usage by another number of bytes than it has. */
static bool frees_wait(void)
{
	return holds_image() ? is_frozen() : climb_is_recovering(own);
}

static void wait_thawed(void)
{
	climb_wait_thawed(own, own_group);
}

/* Bytes that the thread has charged above a high, and has not waited for yet. */
static thread_local_fast uint64_t nr_bytes_above;

static uint32_t try_add(uint64_t nr_bytes, bool use_reserve)
{
	uint32_t full = climb_try_add(own, own->process, nr_bytes, use_reserve);

	if (!full && throttle_is_used(own))
		nr_bytes_above += throttle_group_above(own, own->process) ? nr_bytes : 0;
	return full;
}

static void sub(uint64_t nr_bytes)
{
	climb_sub(own, own->process, nr_bytes);
}

static uint64_t headroom(bool use_reserve)
{
	return climb_headroom(own, own->process, use_reserve);
}

static uint32_t refused(uint64_t nr_bytes)
{
	return climb_refused(own, own->process, nr_bytes);
}

static bool is_certain(uint32_t at)
{
	return decide_is_certain(own, at);
}

struct attempt {
	struct flight *flight;
	uint32_t owner;
	uint32_t frozen; /* what kept it from taking off */
};

static bool take_off(void *arg)
{
	struct attempt *attempt = arg;

	return flight_try_begin_here(attempt->flight, attempt->owner, &attempt->frozen);
}

static void land(void *arg)
{
	struct attempt *attempt = arg;

	flight_end(attempt->flight);
}

static void wait(void *arg)
{
	struct attempt *attempt = arg;

	if (attempt->frozen)
		flight_wait_thawed(attempt->frozen);
}

static uint32_t try_charge(void *arg, uint64_t nr_bytes)
{
	const struct attempt *attempt = arg;
	uint32_t full = counter_try_add(owner_counter(attempt->owner), 0, nr_bytes,
					attempt->flight->reserve_depth > 0);

	if (!full)
		owner_charge_gone(attempt->owner, nr_bytes);
	return full;
}

static void drain(void *arg)
{
	(void)arg;
	drain_below(ROOT_COUNTER);
}

static const struct decider_ops ops = {
	.take_off = take_off,
	.land = land,
	.wait = wait,
	.drain = drain,
	.try_charge = try_charge,
};

/* The number of the thread's row; 0 for a flight that lies in no segment, since there was no room.
 */
static uint32_t row_number(const struct flight_row *row)
{
	const struct shared_thread *first = segment_thread(own, 1);
	const struct shared_thread *thread = (const void *)row;

	return thread >= first && thread < first + own->nr_rows[REGION_THREADS] - 1
		       ? (uint32_t)(thread - first) + 1
		       : 0;
}

static int decide_above(struct flight *flight, uint32_t owner, uint64_t nr_bytes, uint32_t at,
			uint32_t *ret_at)
{
	struct attempt attempt = { .flight = flight, .owner = owner };
	struct decider decider = {
		.process = own->process,
		.thread = row_number(flight->row),
		.ops = &ops,
		.arg = &attempt,
	};

	*ret_at = at;
	/* A thread that nobody can see may not decide. */
	return decider.thread ? decide(own, &decider, nr_bytes, at, ret_at) : -ENOMEM;
}

static struct flight_row *row(void)
{
	uint32_t thread = thread_claim(own, own->process);

	if (!thread)
		report("no room for one more thread in the tree \"%s\"", own->name);
	return thread ? &segment_thread(own, thread)->flight : NULL;
}

static uint32_t nr_flights(void)
{
	return max(segment_nr_used(own, REGION_THREADS), 1u);
}

static uint32_t round_given(void)
{
	/* acquire: pairs with climb_give_back(). */
	return atomic_load_explicit(&segment_process(own, own->process)->owed,
				    memory_order_acquire) &
	       1;
}

static void settle(uint64_t nr_bytes)
{
	climb_settle(own, own->process, nr_bytes);
}

static void count_kind(enum kind kind, int64_t nr_bytes)
{
	struct shared_process *its = segment_process(own, own->process);

	/* relaxed: for show. */
	atomic_fetch_add_explicit(kind == KIND_STACK ? &its->nr_bytes_stack : &its->nr_bytes_anon,
				  (uint64_t)nr_bytes, memory_order_relaxed);
}

/*
 * A signal handler that came while its thread charges holds up whoever decides, and a child of
 * vfork holds up its parent, whose thread it is.
 */
static bool may_wait(const struct flight *flight)
{
	/* relaxed: the thread alone writes them. */
	return !atomic_load_explicit(&flight->row->charging, memory_order_relaxed) &&
	       !atomic_load_explicit(&flight->row->uncharging, memory_order_relaxed) &&
	       !atomic_load_explicit(&flight->freezing, memory_order_relaxed) &&
	       !atomic_load_explicit(&flight->repaying, memory_order_relaxed) &&
	       syscall(SYS_getpid) == slot_pid(own, own->process);
}

/* What a group has above its high: from this process first. Relaxed: numbers that change. */
static void reclaim_above_high(struct flight *flight, uint32_t group)
{
	const struct shared_group *row = segment_group(own, group);
	uint64_t high = atomic_load_explicit(&row->high, memory_order_relaxed);
	uint64_t usage = atomic_load_explicit(&row->counter.usage, memory_order_relaxed);
	uint64_t deadline_ns = limit_deadline();

	if (usage > high && reclaim_may(flight))
		reclaim(flight, group_root(), usage - high, deadline_ns);
	usage = atomic_load_explicit(&row->counter.usage, memory_order_relaxed);
	if (usage > high)
		ask_below(own, own->process, group, usage - high, deadline_ns);
}

static uint64_t throttle(struct flight *flight, bool in_allocation)
{
	uint32_t group;
	uint64_t us;

	if (!throttle_is_used(own) || !nr_bytes_above ||
	    (in_allocation && nr_bytes_above < THROTTLE_MIN_BYTES) || flight->in_callback ||
	    !may_wait(flight))
		return 0;
	pressure_begin(group_root()->owner);
	group = throttle_group_above(own, own->process);
	if (group)
		reclaim_above_high(flight, group);
	us = throttle_wait(own, own->process, row_number(flight->row), nr_bytes_above);
	pressure_end(group_root()->owner);
	/* A wait that would be too short stays due. */
	if (us || !throttle_group_above(own, own->process))
		nr_bytes_above = 0;
	return us;
}

static void begin_stall(struct flight *flight)
{
	stall_begin(own, row_number(flight->row));
}

static void end_stall(struct flight *flight)
{
	stall_end(own, row_number(flight->row));
}

static bool relieve(struct flight *flight, uint32_t at, uint64_t nr_bytes, uint64_t deadline_ns)
{
	if (!may_wait(flight))
		return false;
	serve_renew();
	/* ABOVE alone is the process's own limit. */
	return relief_for(own, own->process, at & ~ABOVE, nr_bytes, deadline_ns);
}

static void tell(uint32_t at, uint64_t nr_bytes, char *path, size_t size, uint64_t *ret_max,
		 uint64_t *ret_usage)
{
	const struct shared_group *group = segment_group(own, at & ~ABOVE);

	ring_refused(own, own->process, at & ~ABOVE, nr_bytes);
	if (!group || !size)
		return;
	/* relaxed: for a message. */
	*ret_max = atomic_load_explicit(&group->counter.max, memory_order_relaxed);
	*ret_usage = atomic_load_explicit(&group->counter.usage, memory_order_relaxed);
	tree_path_end(own, at & ~ABOVE, path, size);
}

static int map_window(void *window)
{
	return chunk_map(own, own->process, window);
}

static int commit_window_row(const void *row)
{
	return chunk_commit_row(own, row);
}

static const struct window_ops windows = { .map = map_window, .commit = commit_window_row };

static const struct charge_above above = {
	.is_frozen = is_frozen,
	.frees_wait = frees_wait,
	.wait_thawed = wait_thawed,
	.try_add = try_add,
	.sub = sub,
	.headroom = headroom,
	.refused = refused,
	.is_certain = is_certain,
	.decide = decide_above,
	.nr_flights = nr_flights,
	.round = round_given,
	.settle = settle,
	.count_kind = count_kind,
	.row = row,
	.throttle = throttle,
	.stall_begin = begin_stall,
	.stall_end = end_stall,
	.relieve = relieve,
	.tell = tell,
};

void leaf_begin(struct segment *segment, uint32_t group)
{
	own = segment;
	own_group = group;
	charge_above = &above;
	/* Without barriers that reach others, or with objects not counted, stocks stay closed. */
	if (barrier_join() && switch_counts(KIND_SLAB))
		window_shared = &windows;
}

void leaf_end(void)
{
	charge_above = NULL;
	window_shared = NULL;
}
