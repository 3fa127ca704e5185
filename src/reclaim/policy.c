/* SPDX-License-Identifier: MIT */
#include "reclaim/policy.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/report.h"
#include "charge/flight.h"
#include "charge/pause.h"
#include "group/event.h"
#include "group/rare.h"
#include "kmem/heap.h"
#include "reclaim/callback.h"
#include "reclaim/waker.h"

_Atomic bool policy_is_used;

/* A callback that runs: on the stack of its thread. */
struct call {
	struct call *next;
	const struct umemcg *group;
	uint64_t nr_changes; /* there had been so many when it began */
};

/* Both under the tree's lock, as are the policies themselves. */
static struct call *calls;
static uint64_t nr_changes;

/* The calling thread's. */
static thread_local_fast struct call *own_call;

static bool is_called(const struct umemcg *group, uint64_t before)
{
	for (const struct call *call = calls; call; call = call->next)
		if (call->group == group && call->nr_changes < before)
			return true;
	return false;
}

/*
 * Until what was called before a change has returned; what it used may be freed then. From within a
 * callback nobody waits: two threads would wait for each other.
 */
static void wait_for_calls(const struct umemcg *group, uint64_t change)
{
	struct flight *flight = thread_flight();
	bool is_over = flight && flight->in_callback;

	for (unsigned int round = 0; !is_over; round++) {
		group_lock();
		is_over = !is_called(group, change);
		group_unlock();
		if (!is_over)
			pause_briefly(round);
	}
}

void policy_wait(const struct umemcg *group)
{
	uint64_t change;

	if (!atomic_load_explicit(&policy_is_used, memory_order_relaxed))
		return;
	group_lock();
	change = ++nr_changes;
	group_unlock();
	wait_for_calls(group, change);
}

int policy_set(struct umemcg *group, enum umemcg_oom_policy policy,
	       bool (*callback)(struct umemcg *group, const struct umemcg_failure *failure,
				void *arg),
	       void *arg)
{
	struct oom *oom;
	uint64_t change;

	if (group == group_root())
		return -EINVAL;
	if (rare_make(group))
		return -ENOMEM;
	group_lock();
	oom = &rare_of(group)->oom;
	oom->policy = policy;
	oom->callback = callback;
	oom->arg = arg;
	if (policy != UMEMCG_OOM_FAIL)
		atomic_store_explicit(&policy_is_used, true, memory_order_relaxed);
	change = ++nr_changes;
	group_unlock();
	wait_for_calls(group, change);
	return 0;
}

enum umemcg_oom_policy policy_get(const struct umemcg *group)
{
	enum umemcg_oom_policy policy;

	group_lock();
	policy = rare_of(group)->oom.policy;
	group_unlock();
	return policy;
}

int policy_set_group_kill(struct umemcg *group, bool is_on)
{
	if (group == group_root())
		return -EINVAL;
	if (rare_make(group))
		return -ENOMEM;
	group_lock();
	rare_of(group)->oom.is_group_kill = is_on;
	group_unlock();
	return 0;
}

bool policy_get_group_kill(const struct umemcg *group)
{
	bool is_on;

	group_lock();
	is_on = rare_of(group)->oom.is_group_kill;
	group_unlock();
	return is_on;
}

/* The process is all that the group has. Who waits for it sees SIGKILL; who looks, why. */
static void kill_process(struct umemcg *full, bool is_group_kill,
			 const struct umemcg_failure *failure)
{
	/* The first process of a PID namespace cannot: the charge fails then. */
	if (getpid() == 1)
		return;
	group_lock();
	if (group_is_live(full)) {
		group_event(full, UMEMCG_EVENT_OOM_KILL);
		if (is_group_kill)
			group_event(full, UMEMCG_EVENT_OOM_GROUP_KILL);
		/* Other processes may have the eventfds. */
		waker_tell_now(full);
	}
	group_unlock();
	report("killed by the OOM policy of group %s: %llu bytes for %s did not fit, "
	       "at %llu of %llu%s%s",
	       failure->group, (unsigned long long)failure->nr_bytes_asked, failure->charged,
	       (unsigned long long)failure->nr_bytes_current,
	       (unsigned long long)failure->nr_bytes_max,
	       failure->nr_consumers ? "; most of it is of " : "",
	       failure->nr_consumers ? failure->consumers[0].group : "");
	syscall(SYS_kill, getpid(), SIGKILL);
}

static void remove_call(const struct call *call)
{
	struct call **link = &calls;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
}

static bool ask(struct flight *flight, struct umemcg *full, const struct oom *oom,
		const struct umemcg_failure *failure, struct call *call)
{
	struct callback callback;
	bool is_more_room;

	own_call = call;
	callback_begin(&callback, flight, call, full);
	is_more_room = oom->callback(full, failure, oom->arg);
	callback_end(&callback, flight);
	own_call = NULL;
	group_lock();
	remove_call(call);
	group_unlock();
	return is_more_room;
}

bool policy_decides(struct flight *flight, struct umemcg *full,
		    const struct umemcg_failure *failure)
{
	struct call call = { .group = full };
	/* A copy: the callback may change it, or destroy the group. */
	struct oom oom = { .policy = UMEMCG_OOM_FAIL };

	group_lock();
	if (group_is_live(full)) {
		oom = rare_of(full)->oom;
		if (oom.policy == UMEMCG_OOM_CALLBACK) {
			call.next = calls;
			call.nr_changes = nr_changes;
			calls = &call;
		}
	}
	group_unlock();
	switch (oom.policy) {
	case UMEMCG_OOM_FAIL:
		break;
	case UMEMCG_OOM_KILL:
		kill_process(full, oom.is_group_kill, failure);
		break;
	case UMEMCG_OOM_CALLBACK:
		return ask(flight, full, &oom, failure, &call);
	}
	return false;
}

void policy_forget_others(void)
{
	calls = own_call;
	if (calls)
		calls->next = NULL;
}
