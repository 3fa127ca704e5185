/* SPDX-License-Identifier: MIT */
#include "reclaim/worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "base/compiler.h"
#include "base/system.h"

struct worker {
	pthread_mutex_t lock; /* of all below, and of its works; innermost */
	pthread_cond_t wake;  /* there is something to do, or to do earlier */
	pthread_cond_t done;  /* a work has ended */
	struct work *first;   /* what is due first */
	struct work *running;
	pthread_t thread; /* once it runs */
	bool is_there;
};

static struct worker workers[NR_WORKERS] = {
	[WORKER_SERVICE] = { .lock = PTHREAD_MUTEX_INITIALIZER },
	[WORKER_CALLBACKS] = { .lock = PTHREAD_MUTEX_INITIALIZER },
};

/* A work waits for a thread that is not there. Relaxed: who comes by next may see it. */
static _Atomic bool is_any_missing;

static void init_conditions(struct worker *worker)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&worker->wake, &attr);
	pthread_cond_init(&worker->done, &attr);
	pthread_condattr_destroy(&attr);
}

void worker_init(void)
{
	for (unsigned int i = 0; i < NR_WORKERS; i++)
		init_conditions(&workers[i]);
}

static void wait_until(struct worker *worker, uint64_t due_ns)
{
	struct timespec due = {
		.tv_sec = (time_t)(due_ns / 1000000000u),
		.tv_nsec = (long)(due_ns % 1000000000u),
	};

	pthread_cond_timedwait(&worker->wake, &worker->lock, &due);
}

/* Locked: the next work that is due, off the queue. */
static struct work *take_due(struct worker *worker)
{
	struct work *work;

	while (!(work = worker->first) || work->due_ns > system_now_ns()) {
		if (work)
			wait_until(worker, work->due_ns);
		else
			pthread_cond_wait(&worker->wake, &worker->lock);
	}
	worker->first = work->next;
	work->is_queued = false;
	return work;
}

static void *work_on(void *arg)
{
	struct worker *worker = arg;

	pthread_setname_np(pthread_self(), "umemcg");
	pthread_mutex_lock(&worker->lock);
	worker->thread = pthread_self();
	for (;;) {
		struct work *work = take_due(worker);

		worker->running = work;
		pthread_mutex_unlock(&worker->lock);
		work->run(work);
		pthread_mutex_lock(&worker->lock);
		worker->running = NULL;
		pthread_cond_broadcast(&worker->done);
	}
	return NULL;
}

/*
 * The program's signals are for its own threads; but a page of a region that the worker touches, in
 * a shrinker or to store it, is its own fault.
 */
static int create(struct worker *worker)
{
	sigset_t all, old;
	pthread_t thread;
	int r;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = system_thread_create(&thread, NULL, work_on, worker);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r)
		return -EAGAIN;
	pthread_detach(thread);
	return 0;
}

int worker_start_kind(enum worker_kind kind)
{
	struct worker *worker = &workers[kind];
	bool is_there;
	int r;

	pthread_mutex_lock(&worker->lock);
	is_there = worker->is_there;
	worker->is_there = true;
	pthread_mutex_unlock(&worker->lock);
	if (is_there)
		return 0;
	r = create(worker);
	if (!r)
		return 0;
	pthread_mutex_lock(&worker->lock);
	worker->is_there = false;
	/* Queued meanwhile by somebody who found it there. */
	if (worker->first)
		atomic_store_explicit(&is_any_missing, true, memory_order_relaxed);
	pthread_mutex_unlock(&worker->lock);
	return r;
}

static void unlink_work(struct worker *worker, struct work *work)
{
	struct work **link = &worker->first;

	if (!work->is_queued)
		return;
	while (*link != work)
		link = &(*link)->next;
	*link = work->next;
	work->is_queued = false;
}

static void link_work(struct worker *worker, struct work *work)
{
	struct work **link = &worker->first;

	while (*link && (*link)->due_ns <= work->due_ns)
		link = &(*link)->next;
	work->next = *link;
	*link = work;
	work->is_queued = true;
}

void worker_queue(struct work *work, uint64_t due_ns)
{
	struct worker *worker = &workers[work->kind];

	pthread_mutex_lock(&worker->lock);
	if (!work->is_queued || due_ns < work->due_ns) {
		unlink_work(worker, work);
		work->due_ns = due_ns;
		link_work(worker, work);
		if (!worker->is_there)
			atomic_store_explicit(&is_any_missing, true, memory_order_relaxed);
		else if (worker->first == work)
			pthread_cond_signal(&worker->wake);
	}
	pthread_mutex_unlock(&worker->lock);
}

void worker_cancel(struct work *work)
{
	struct worker *worker = &workers[work->kind];
	int cancel_state;

	/* A thread that is cancelled while it waits would leave the lock taken. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&worker->lock);
	unlink_work(worker, work);
	while (worker->running == work && !pthread_equal(worker->thread, pthread_self()))
		pthread_cond_wait(&worker->done, &worker->lock);
	pthread_mutex_unlock(&worker->lock);
	pthread_setcancelstate(cancel_state, NULL);
}

void worker_renew(void)
{
	if (likely(!atomic_load_explicit(&is_any_missing, memory_order_relaxed)))
		return;
	atomic_store_explicit(&is_any_missing, false, memory_order_relaxed);
	for (unsigned int kind = 0; kind < NR_WORKERS; kind++) {
		bool is_needed;

		pthread_mutex_lock(&workers[kind].lock);
		is_needed = workers[kind].first && !workers[kind].is_there;
		pthread_mutex_unlock(&workers[kind].lock);
		if (is_needed)
			worker_start_kind(kind);
	}
}

void worker_lock(void)
{
	for (unsigned int i = 0; i < NR_WORKERS; i++)
		pthread_mutex_lock(&workers[i].lock);
}

void worker_unlock(void)
{
	for (unsigned int i = NR_WORKERS; i-- > 0;)
		pthread_mutex_unlock(&workers[i].lock);
}

void worker_forget(void)
{
	for (unsigned int i = 0; i < NR_WORKERS; i++) {
		struct worker *worker = &workers[i];

		/* Whoever waited there is not here. */
		init_conditions(worker);
		/* It may be the one that forked, from what it was doing. */
		if (worker->is_there && worker->running &&
		    pthread_equal(worker->thread, pthread_self()))
			continue;
		worker->is_there = false;
		worker->running = NULL;
		if (worker->first)
			atomic_store_explicit(&is_any_missing, true, memory_order_relaxed);
	}
}
