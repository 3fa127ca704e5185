/* SPDX-License-Identifier: MIT */
/*
 * A call that was allowed is made some microseconds later, or fails, unseen. Until its thread asks
 * again, or 2 ms have passed, what it takes or gives back is taken to be on its way: a look that
 * does not see it done changes no charge for it. So a charge is wrong for as long after a call that
 * failed, and for longer only if a thread was kept from running; the next look mends both.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"
#include "settle.h"

#define ON_ITS_WAY_US 2000
/* A look that takes longer, for want of few mappings, may take one part in so many of the time. */
#define LONG_LOOK_US    200
#define LONG_LOOK_SHARE 3
/* Processes that are looked at in one go, so that others do not wait for longer. */
#define NR_LOOKS_MAX 64
/* For how long room is made again for one call, while others take it, and wait for this thread. */
#define RELIEF_US 500000

/* Bytes that calls which may not have been made yet take, and give back. */
struct on_their_way {
	uint64_t nr_bytes_coming, nr_bytes_going;
};

static struct on_their_way find_on_their_way(const struct process *process)
{
	struct on_their_way sum = { 0 };
	uint64_t now = ledger_now_us();

	for (const struct thread *thread = process->threads; thread;
	     thread = thread->next_of_process) {
		if (now - thread->asked_at_us >= ON_ITS_WAY_US)
			continue;
		sum.nr_bytes_coming += thread->nr_bytes_coming;
		sum.nr_bytes_going += thread->nr_bytes_going;
	}
	return sum;
}

/* It has taken its leaf over, and what was charged to it is gone with its old image. */
static void let_go(struct process *process)
{
	process->accountant = ACCOUNTANT_ITSELF;
	process->nr_bytes_charged = 0;
	process->is_dirty = false;
}

static int charge(struct ledger *ledger, struct process *process, uint64_t nr_bytes)
{
	int r = nr_bytes ? umemcg_tree_charge(ledger->tree, process->leaf, nr_bytes) : 0;

	if (!r) {
		process->nr_bytes_charged += nr_bytes;
		return 0;
	}
	/* -EINVAL: the leaf is no longer the one that was claimed. */
	if (r != -ENOMEM) {
		let_go(process);
		return 0;
	}
	return r;
}

/*
 * The last resort: others are asked, or somebody is killed, as the group's policy says. The charge
 * comes first: which group has refused this process may not be what the last look at another found.
 */
static int charge_for_others(struct ledger *ledger, struct process *process, uint64_t nr_bytes)
{
	uint64_t until_us = ledger_now_us() + RELIEF_US;
	int r;

	while ((r = charge(ledger, process, nr_bytes)) && ledger_now_us() < until_us)
		if (umemcg_tree_relieve(ledger->tree, process->leaf, nr_bytes) == -ENOMEM)
			break;
	return r;
}

static void uncharge(struct ledger *ledger, struct process *process, uint64_t nr_bytes)
{
	if (nr_bytes > process->nr_bytes_charged)
		nr_bytes = process->nr_bytes_charged;
	if (!nr_bytes)
		return;
	umemcg_tree_uncharge(ledger->tree, process->leaf, nr_bytes);
	process->nr_bytes_charged -= nr_bytes;
}

static uint64_t without(uint64_t nr_bytes, uint64_t nr_bytes_less)
{
	return nr_bytes > nr_bytes_less ? nr_bytes - nr_bytes_less : 0;
}

/*
 * At least what there is without what may be on its way back, at most with what may be coming.
 * Memory that is there and does not fit stays uncharged; it is tried again when there is more of
 * it, and not at each look, since a refused charge is reported.
 */
static void charge_between(struct ledger *ledger, struct process *process, uint64_t least,
			   uint64_t most)
{
	uint64_t charged = process->nr_bytes_charged;

	if (least <= charged) {
		process->nr_bytes_missed = 0;
		uncharge(ledger, process, without(charged, most));
	} else if (least > process->nr_bytes_missed) {
		bool fits = !charge(ledger, process, least - charged);

		process->nr_bytes_missed = fits ? 0 : least;
	}
}

/* Of this thread, whatever else runs on its processor. */
static uint64_t cpu_us(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1000;
}

int settle_look_now(struct ledger *ledger, struct process *process, struct thread *giver,
		    uint64_t start, uint64_t end, struct maps_look *ret_look)
{
	const struct maps_range range = {
		.start = start,
		.end = end,
		.end_data = process->end_data,
		.start_brk = process->start_brk,
		.nr_bytes_ignore = process->nr_bytes_ignore,
	};
	uint64_t begun = cpu_us(), nr_bytes;
	int r = maps_look_at(process->maps, &range, ret_look);
	struct on_their_way bytes = find_on_their_way(process);

	process->looked_at_us = ledger_now_us();
	process->look_cost_us = cpu_us() - begun;
	ledger_count(&ledger->stat.nr_looks, 1);
	if (r) {
		/* It has executed something and not been heard of since, or is dying. */
		process->is_dirty = false;
		return -ESRCH;
	}
	process->is_dirty = bytes.nr_bytes_coming || bytes.nr_bytes_going;
	/* A brk that was allowed has failed, then. */
	if (!process->is_dirty && process->brk && ret_look->heap_end &&
	    ret_look->heap_end != maps_page_align(process->brk))
		process->brk = ret_look->heap_end;
	nr_bytes = without(ret_look->nr_bytes, process->nr_bytes_inherited);
	if (giver) {
		giver->nr_bytes_going = ret_look->nr_bytes_in_range;
		giver->asked_at_us = process->looked_at_us;
		nr_bytes = without(nr_bytes, giver->nr_bytes_going);
	}
	charge_between(ledger, process, without(nr_bytes, bytes.nr_bytes_going),
		       nr_bytes + bytes.nr_bytes_coming);
	return 0;
}

int settle_look(struct ledger *ledger, struct process *process, struct thread *giver,
		uint64_t start, uint64_t end, struct maps_look *ret_look)
{
	uint64_t age_us = ledger_now_us() - process->looked_at_us;

	if (process->look_cost_us > LONG_LOOK_US &&
	    age_us < (LONG_LOOK_SHARE - 1) * process->look_cost_us)
		return -EAGAIN;
	return settle_look_now(ledger, process, giver, start, end, ret_look);
}

void settle_later(struct process *process)
{
	process->is_dirty = true;
}

static bool is_due(const struct process *process, uint64_t age_us)
{
	return process->accountant == ACCOUNTANT_SUPERVISOR && process->is_dirty &&
	       ledger_now_us() - process->looked_at_us >= age_us;
}

/* Has it been charged too much? */
static bool is_lower_after_look(struct ledger *ledger, struct process *process)
{
	uint64_t before = process->nr_bytes_charged;
	struct maps_look seen;

	settle_look_now(ledger, process, NULL, 0, 0, &seen);
	return process->nr_bytes_charged < before;
}

/*
 * Before a refusal: all that may be charged too much. The process that asks comes first, and is
 * looked at in any case: a call of its may have been kept from being made until after the last
 * look.
 */
static bool is_lower_after_looking_around(struct ledger *ledger, struct process *own)
{
	bool is_lower = is_lower_after_look(ledger, own);
	unsigned int nr_looks = 1;

	for (int i = 0; i < LEDGER_NR_BUCKETS; i++)
		for (struct process *p = ledger->processes[i]; p; p = p->next)
			if (p != own && is_due(p, 0) && nr_looks++ < NR_LOOKS_MAX)
				is_lower |= is_lower_after_look(ledger, p);
	return is_lower;
}

/* Other threads' calls may have been made, or have failed, after that time. */
static void wait_for_calls(void)
{
	const struct timespec time = { .tv_nsec = ON_ITS_WAY_US * 1000 };

	nanosleep(&time, NULL);
}

int settle_grow(struct ledger *ledger, struct thread *thread, uint64_t nr_bytes)
{
	struct process *process = thread->process;
	int r;

	if (process->accountant != ACCOUNTANT_SUPERVISOR)
		return 0;
	r = charge(ledger, process, nr_bytes);
	if (r && is_lower_after_looking_around(ledger, process))
		r = charge(ledger, process, nr_bytes);
	if (r && process->is_dirty) {
		wait_for_calls();
		if (is_lower_after_looking_around(ledger, process))
			r = charge(ledger, process, nr_bytes);
	}
	if (r)
		r = charge_for_others(ledger, process, nr_bytes);
	if (r || process->accountant != ACCOUNTANT_SUPERVISOR)
		return r;
	thread->nr_bytes_coming = nr_bytes;
	thread->asked_at_us = ledger_now_us();
	process->is_dirty = true;
	return 0;
}

void settle_undo(struct ledger *ledger, struct thread *thread, uint64_t nr_bytes)
{
	if (thread->process->accountant == ACCOUNTANT_SUPERVISOR)
		uncharge(ledger, thread->process, nr_bytes);
	thread->nr_bytes_coming = 0;
	thread->nr_bytes_going = 0;
	thread->process->is_dirty = true;
}

bool settle_all(struct ledger *ledger)
{
	unsigned int nr_looks = 0;
	bool is_any_due = false;

	for (int i = 0; i < LEDGER_NR_BUCKETS; i++) {
		for (struct process *p = ledger->processes[i]; p; p = p->next) {
			if (is_due(p, SETTLE_PERIOD_US) && nr_looks++ < NR_LOOKS_MAX) {
				ledger_forget_threads(ledger, p);
				is_lower_after_look(ledger, p);
			}
			is_any_due |= is_due(p, 0);
		}
	}
	return is_any_due;
}
