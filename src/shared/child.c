/* SPDX-License-Identifier: MIT */
#include "shared/child.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "charge/charge.h"
#include "charge/counter.h"
#include "shared/climb.h"
#include "shared/decide.h"
#include "shared/image.h"
#include "shared/recovery.h"
#include "shared/ring.h"
#include "shared/slot.h"
#include "shared/thread.h"
#include "shared/tree.h"

/* How often room is made for a child. */
#define NR_TRIES 5

/* Of the fork that is being made: one at a time, since handlers of forks run under locks. */
static uint32_t child;
static uint32_t fork_thread;

/* Of the thread's own fork: its child's row, and, before, one that was charged ahead, under
 * memory.fork = copy. */
static thread_local_fast uint32_t last_child, charged;

/* From a charge ahead to the end of its fork. */
static pthread_mutex_t copy_lock = PTHREAD_MUTEX_INITIALIZER;
static thread_local_fast bool holds_copy_lock;

static void release_copy_lock(void)
{
	if (!holds_copy_lock)
		return;
	holds_copy_lock = false;
	pthread_mutex_unlock(&copy_lock);
}

static struct flight_row *flight_of(struct segment *segment)
{
	if (!fork_thread)
		fork_thread = thread_claim(segment, segment->process);
	return fork_thread ? &segment_thread(segment, fork_thread)->flight : NULL;
}

static void land(struct segment *segment)
{
	struct flight_row *flight = flight_of(segment);

	if (flight)
		thread_land(flight);
}

/* With the locks, in flight, and nobody decides above. Not waited for under a lock, since whoever
 * waits may have to recover. */
static void begin(struct segment *segment)
{
	uint32_t group = climb_group(segment, segment->process);

	for (;;) {
		pthread_mutex_lock(&segment->lock);
		pthread_mutex_lock(&segment->ledger_lock);
		if (!flight_of(segment))
			return;
		thread_take_off(flight_of(segment), 1);
		if (!climb_is_frozen(segment, group))
			return;
		land(segment);
		pthread_mutex_unlock(&segment->ledger_lock);
		pthread_mutex_unlock(&segment->lock);
		climb_wait_thawed(segment, group);
	}
}

static uint64_t used_by(const struct segment *segment, uint32_t process)
{
	return atomic_load_explicit(&segment_process(segment, process)->used, memory_order_relaxed);
}

/* relaxed: nobody counts the row before its group is set, which is released last. */
static void fill_in(struct segment *segment, uint32_t row, uint64_t used, uint32_t image)
{
	struct shared_process *parent = segment_process(segment, segment->process);
	struct shared_process *its = segment_process(segment, row);

	atomic_store_explicit(&its->used, used, memory_order_relaxed);
	atomic_store_explicit(&its->max, atomic_load_explicit(&parent->max, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&its->image, image, memory_order_relaxed);
	atomic_store_explicit(&its->nr_bytes_stack,
			      atomic_load_explicit(&parent->nr_bytes_stack, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&its->nr_bytes_anon,
			      atomic_load_explicit(&parent->nr_bytes_anon, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&its->group, climb_group(segment, segment->process),
			      memory_order_release);
}

static int share(struct segment *segment)
{
	struct shared_process *parent = segment_process(segment, segment->process);
	int r;

	/* Nobody could see that a fork is under way. */
	if (!fork_thread)
		return -ENOSPC;
	r = slot_claim(segment, segment->process, 0, 0, &child);
	if (r)
		return r;
	image_take_back(segment, segment->process);
	r = image_make(segment, segment->process);
	if (r) {
		slot_free(segment, child);
		return r;
	}
	fill_in(segment, child, used_by(segment, segment->process),
		atomic_load_explicit(&parent->image, memory_order_relaxed));
	return 0;
}

/* By what other threads charged or gave back since it was charged ahead. False: that does not fit.
 */
static bool adjust_copy(struct segment *segment)
{
	uint64_t used = used_by(segment, segment->process), ahead = used_by(segment, charged);

	child = charged;
	charged = 0;
	if (used < ahead)
		climb_sub(segment, child, ahead - used);
	else if (used > ahead && climb_try_add(segment, child, used - ahead, true)) {
		climb_sub(segment, child, ahead);
		slot_free(segment, child);
		return false;
	}
	return true;
}

/* In neither flight nor lock: nobody is counted in rows of the dead. */
static void make_room(struct segment *segment)
{
	land(segment);
	pthread_mutex_unlock(&segment->ledger_lock);
	pthread_mutex_unlock(&segment->lock);
	recovery_run(segment, true);
	begin(segment);
}

void child_prepare(struct segment *segment)
{
	int r;

	begin(segment);
	child = 0;
	/* A copy that does not fit any more, with the fork under way, is shared. */
	if (charged && adjust_copy(segment))
		return;
	r = share(segment);
	/* Who forks and is never refused anything meets nobody who recovers. What was freed others
	 * may have taken by then, and a recovery fails while a thread is stopped in flight. */
	for (unsigned int i = 0; r == -ENOSPC && i < NR_TRIES; i++) {
		make_room(segment);
		r = share(segment);
	}
	if (r)
		child = 0;
}

void child_release(struct segment *segment)
{
	land(segment);
	last_child = child;
	release_copy_lock();
	/* Until the child has named itself it is known by who claimed it. */
	pthread_mutex_unlock(&segment->ledger_lock);
	pthread_mutex_unlock(&segment->lock);
}

void child_made(struct segment *segment, pid_t pid)
{
	if (last_child)
		slot_born(segment, last_child, pid);
	last_child = 0;
}

static void give_up(struct segment *segment, uint32_t process)
{
	slot_give_up(segment, process);
	recovery_run(segment, true);
}

void child_forget(struct segment *segment)
{
	uint32_t process = charged ? charged : last_child;

	charged = last_child = 0;
	if (process)
		give_up(segment, process);
}

/* The decider is the child's row, which has no stocks; the parent's are closed like all others'. */
static int charge_for(struct segment *segment, uint32_t process, uint32_t group, uint64_t nr_bytes)
{
	struct decider decider = { .process = process, .thread = fork_thread };
	uint32_t at = group | ABOVE;
	int r = decide(segment, &decider, nr_bytes, at, &at);

	if (r)
		ring_refused(segment, segment->process, at & ~ABOVE, nr_bytes);
	return r;
}

int child_charge_copy(struct segment *segment)
{
	uint32_t group = climb_group(segment, segment->process);
	const struct shared_group *its = segment_group(segment, group);
	int r;

	if (!its || !atomic_load_explicit(&its->copies_on_fork, memory_order_relaxed))
		return 0;
	pthread_mutex_lock(&copy_lock);
	holds_copy_lock = true;
	r = flight_of(segment) ? 0 : -ENOSPC;
	if (!r)
		r = slot_claim(segment, segment->process, 0, 0, &charged);
	if (r == -ENOSPC && !recovery_run(segment, true))
		r = slot_claim(segment, segment->process, 0, 0, &charged);
	if (!r) {
		fill_in(segment, charged, 0, 0);
		r = charge_for(segment, charged, group, used_by(segment, segment->process));
		if (r)
			child_forget(segment);
	}
	if (r)
		release_copy_lock();
	return r;
}

/* ---- in the child ---- */

/* Of a row of its own that it has just claimed: whatever fits. */
static int charge_all(struct segment *segment, uint32_t group)
{
	const struct counter *root = counter_row(ROOT_COUNTER);
	struct shared_process *its = segment_process(segment, segment->process);
	uint64_t used = atomic_load_explicit(&root->usage, memory_order_relaxed);
	int r = tree_join(segment, segment->process, group);

	if (r)
		return r;
	atomic_store_explicit(&its->max, atomic_load_explicit(&root->max, memory_order_relaxed),
			      memory_order_relaxed);
	if (!flight_of(segment))
		return -ENOSPC;
	return used ? charge_for(segment, segment->process, group, used) : 0;
}

/*
 * Its parent died before it could be named, and its row was taken out of the books with what the
 * parent had. So it is charged in full, as if it had come from elsewhere.
 */
static int join_alone(struct segment *segment, uint32_t group)
{
	int r = slot_claim(segment, 0, getpid(), 0, &segment->process);

	if (r) {
		segment->process = 0;
		return r;
	}
	slot_set_live(segment, segment->process);
	r = charge_all(segment, group);
	if (r) {
		give_up(segment, segment->process);
		segment->process = 0;
	}
	return r;
}

int child_begin(struct segment *segment, uint32_t group)
{
	int r = child ? 0 : -ENOSPC;

	last_child = 0;
	release_copy_lock();
	fork_thread = 0;
	segment->thread = 0;
	segment->process = child;
	pthread_mutex_unlock(&segment->ledger_lock);
	pthread_mutex_unlock(&segment->lock);
	if (child && slot_name(segment, child, getpid())) {
		r = join_alone(segment, group);
	} else if (child) {
		slot_set_live(segment, child);
		tree_count_process(segment, group);
	}
	if (r)
		report("tree \"%s\": %s: a child is not counted there", segment->name,
		       strerror(-r));
	return r;
}
