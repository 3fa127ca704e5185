/* SPDX-License-Identifier: MIT */
#include "reclaim/waker.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/system.h"
#include "base/table.h"
#include "group/event.h"
#include "group/rare.h"
#include "reclaim/subscription.h"
#include "reclaim/worker.h"

/* As many as there may be subscriptions. */
#define NR_WAKERS_MAX (1u << 20)

struct waker {
	uint32_t link;    /* the table's, while the row is free */
	uint32_t group;   /* its id; 0: none any more, and the row is free when its work is done */
	uint32_t first;   /* of its subscriptions */
	bool is_pending;  /* some subscription was not told of something */
	bool is_queued;   /* the work */
	uint64_t next_ns; /* no wake before this */
	struct work work;
};

/* Made with the first subscription. */
static struct table table;
static bool has_table;

static struct waker *waker_row(uint32_t row)
{
	return table_row(&table, row);
}

static _Atomic uint32_t *waker_of(const struct umemcg *group)
{
	return &rare_of(group)->waker;
}

/* Wake all that anything is pending for. */
static void tell_now(struct waker *waker, uint64_t now)
{
	struct subscription *subscription;

	for (uint32_t row = waker->first; row; row = subscription->next) {
		subscription = subscription_row(row);
		subscription_tell(subscription);
	}
	waker->is_pending = false;
	waker->next_ns = now + WAKER_INTERVAL_NS;
}

/* The same, or as soon as the interval is over. */
static void tell(struct waker *waker)
{
	uint64_t now = system_now_ns();

	if (now >= waker->next_ns) {
		tell_now(waker, now);
	} else if (!waker->is_queued) {
		waker->is_queued = true;
		worker_queue(&waker->work, waker->next_ns);
	}
}

/* Count the event for those that asked for it. */
static void note(struct waker *waker, enum umemcg_event event, bool is_local)
{
	struct subscription *subscription;

	for (uint32_t row = waker->first; row; row = subscription->next) {
		subscription = subscription_row(row);
		if (!(subscription->events & 1u << event) ||
		    (!is_local && subscription->events & UMEMCG_EVENT_LOCAL))
			continue;
		subscription->nr_pending++;
		waker->is_pending = true;
	}
}

static void wake(struct umemcg *group, enum umemcg_event event, bool is_local)
{
	uint32_t row;

	subscription_lock();
	/* relaxed: it is written under this lock. */
	row = atomic_load_explicit(waker_of(group), memory_order_relaxed);
	if (row) {
		note(waker_row(row), event, is_local);
		if (waker_row(row)->is_pending)
			tell(waker_row(row));
	}
	subscription_unlock();
}

static void put(struct waker *waker)
{
	if (!waker->group && !waker->is_queued)
		table_put(&table, (uint32_t)(waker - waker_row(0)));
}

/* The interval is over. */
static void run(struct work *work)
{
	struct waker *waker = (struct waker *)((char *)work - offsetof(struct waker, work));

	subscription_lock();
	waker->is_queued = false;
	/* Not told before its time: an event may have come that was first to find it over. */
	if (waker->is_pending)
		tell(waker);
	put(waker);
	subscription_unlock();
}

/* The group has no subscribers any more, and its row of what is rare is still its own. */
static void end(struct waker *waker)
{
	/* relaxed: who finds it still set asks again under the lock. */
	atomic_store_explicit(waker_of(group_row(waker->group)), 0, memory_order_relaxed);
	waker->group = 0;
	waker->first = 0;
	waker->is_pending = false;
	put(waker);
}

/* A last wake, whatever the time. */
static void wake_last(struct waker *waker)
{
	struct subscription *subscription;

	for (uint32_t row = waker->first; row; row = subscription->next) {
		subscription = subscription_row(row);
		subscription->nr_pending++;
		subscription_tell(subscription);
		subscription->waker = 0;
	}
	end(waker);
}

/* The tree is locked, so nobody subscribes meanwhile; but who did may leave. */
static void bequeath(struct umemcg *group, struct umemcg *heir)
{
	uint32_t row;

	(void)heir;
	/* relaxed: what is found under the lock of the subscriptions counts. */
	if (!atomic_load_explicit(waker_of(group), memory_order_relaxed))
		return;
	subscription_lock();
	row = atomic_load_explicit(waker_of(group), memory_order_relaxed);
	if (row)
		wake_last(waker_row(row));
	subscription_unlock();
}

void waker_init(void)
{
	static struct group_bequest bequest = { .bequeath = bequeath };

	group_add_bequest(&bequest);
	event_wake = wake;
}

/* A waker without subscriptions; 0: there is no memory. */
static uint32_t make(const struct umemcg *group)
{
	uint32_t row;

	if (!has_table)
		has_table = !table_init(&table, sizeof(struct waker), NR_WAKERS_MAX, NULL);
	row = has_table ? table_get(&table) : 0;
	if (row)
		*waker_row(row) = (struct waker){ .group = group->id, .work = { .run = run } };
	return row;
}

int waker_join(struct umemcg *group, uint32_t subscription)
{
	uint32_t row = atomic_load_explicit(waker_of(group), memory_order_relaxed);

	if (!row)
		row = make(group);
	if (!row)
		return -ENOMEM;
	subscription_row(subscription)->waker = row;
	subscription_row(subscription)->next = waker_row(row)->first;
	waker_row(row)->first = subscription;
	/* Release pairs with the load in group_event(). */
	atomic_store_explicit(waker_of(group), row, memory_order_release);
	/*
	 * Adding nothing to a count orders the events around it, partner: group_event(). Those
	 * before it are seen counted by the caller from here on; those after it see the waker.
	 */
	for (unsigned int event = 0; event < UMEMCG_NR_EVENTS; event++)
		atomic_fetch_add_explicit(&rare_of(group)->events[event], 0, memory_order_acq_rel);
	return 0;
}

void waker_tell_now(const struct umemcg *group)
{
	subscription_lock();
	for (; group; group = group_parent(group)) {
		uint32_t row = atomic_load_explicit(waker_of(group), memory_order_relaxed);

		if (row)
			tell_now(waker_row(row), system_now_ns());
	}
	subscription_unlock();
}

void waker_leave(uint32_t subscription)
{
	uint32_t row = subscription_row(subscription)->waker;
	uint32_t *link;

	if (!row)
		return;
	link = &waker_row(row)->first;
	while (*link != subscription)
		link = &subscription_row(*link)->next;
	*link = subscription_row(subscription)->next;
	if (!waker_row(row)->first)
		end(waker_row(row));
}

void waker_forget_all(void)
{
	/* relaxed: there is no other thread. */
	uint32_t nr_used = atomic_load_explicit(&table.nr_used, memory_order_relaxed);

	for (uint32_t row = 1; row < nr_used; row++) {
		struct waker *waker = waker_row(row);
		bool is_gone = !waker->group && waker->is_queued;

		worker_cancel(&waker->work);
		waker->is_queued = false;
		if (waker->group)
			end(waker);
		else if (is_gone)
			put(waker);
	}
}
