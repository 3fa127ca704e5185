/* SPDX-License-Identifier: MIT */
#include "reclaim/asking.h"

#include <stdbool.h>

#include "base/system.h"
#include "kmem/heap.h"
#include "reclaim/callback.h"
#include "reclaim/holdings.h"
#include "reclaim/shrinker.h"
#include "reclaim/worker.h"

enum asking_state { FREE, ASKED, RUNNING, ANSWERED };

static void answer(struct work *work);

/* With the lock of the holdings. */
static struct {
	enum asking_state state;
	bool is_given_up; /* RUNNING: nobody waits for the answer */
	struct umemcg_shrinker *shrinker;
	struct umemcg *group;
	uint64_t nr_bytes;
	uint64_t answer;
	struct work work;
} asking = { .work = { .run = answer, .kind = WORKER_CALLBACKS } };

int asking_prepare(void)
{
	return worker_start_kind(WORKER_CALLBACKS);
}

static void become(enum asking_state state)
{
	asking.state = state;
	holdings_wake();
}

/* In the library's thread. */
static void answer(struct work *work)
{
	struct flight *flight = thread_flight();
	uint64_t result = 0;

	(void)work;
	holdings_lock();
	if (asking.state != ASKED) {
		holdings_unlock();
		return;
	}
	become(RUNNING);
	holdings_unlock();
	if (flight)
		result = shrinker_call(flight, asking.shrinker, asking.group, asking.nr_bytes);
	holdings_lock();
	shrinker_unpin(asking.shrinker);
	asking.answer = result;
	become(asking.is_given_up ? FREE : ANSWERED);
	holdings_unlock();
}

/* Locked: is it our turn? */
static bool wait_for_turn(uint64_t deadline_ns)
{
	while (asking.state != FREE) {
		if ((asking.state == RUNNING && asking.is_given_up) ||
		    system_now_ns() >= deadline_ns)
			return false;
		holdings_wait(deadline_ns);
	}
	return true;
}

static uint64_t wait_for_answer(uint64_t deadline_ns)
{
	while (asking.state != ANSWERED && system_now_ns() < deadline_ns)
		holdings_wait(deadline_ns);
	if (asking.state == RUNNING) {
		asking.is_given_up = true;
		/* Nor is there a turn for whoever waits for one. */
		holdings_wake();
		return 0;
	}
	if (asking.state == ASKED) {
		shrinker_unpin(asking.shrinker);
		asking.answer = 0;
	}
	become(FREE);
	return asking.answer;
}

uint64_t asking_call(struct umemcg_shrinker *shrinker, struct umemcg *group, uint64_t nr_bytes,
		     uint64_t deadline_ns)
{
	uint64_t result = 0;

	/* A fork child has none yet. */
	if (asking_prepare())
		return 0;
	holdings_lock();
	if (!shrinker->is_gone && wait_for_turn(deadline_ns)) {
		shrinker_pin(shrinker);
		asking.shrinker = shrinker;
		asking.group = group;
		asking.nr_bytes = nr_bytes;
		asking.is_given_up = false;
		become(ASKED);
		worker_queue(&asking.work, 0);
		result = wait_for_answer(deadline_ns);
	}
	holdings_unlock();
	return result;
}

void asking_cancel(struct umemcg_shrinker *shrinker)
{
	if (asking.state != ASKED || asking.shrinker != shrinker)
		return;
	shrinker_unpin(shrinker);
	asking.answer = 0;
	become(ANSWERED);
}

/* Who asked is not here; who answers may be, having forked in the callback. */
void asking_forget_others(void)
{
	if (asking.state == RUNNING && callback_nr_own(asking.shrinker))
		asking.is_given_up = true;
	else
		asking.state = FREE;
}
