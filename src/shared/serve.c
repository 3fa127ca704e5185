/* SPDX-License-Identifier: MIT */
#include "shared/serve.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system.h"
#include "group/group.h"
#include "kmem/heap.h"
#include "reclaim/limit.h"
#include "reclaim/reclaim.h"
#include "shared/attach.h"
#include "shared/segment.h"

/* Before the thread is made; in a fork child it is to be made again. */
static _Atomic bool is_served, was_served;

static void give_back(struct shared_process *its, uint64_t nr_bytes)
{
	struct flight *flight = thread_flight();
	uint64_t nr_given = 0;

	if (flight)
		nr_given = reclaim_requested(flight, group_root(), nr_bytes);
	/* relaxed: what is told by `reclaim_served'. */
	atomic_fetch_add_explicit(&its->nr_reclaimed, nr_given, memory_order_relaxed);
}

static void *serve(void *arg)
{
	struct shared_process *its = arg;

	for (;;) {
		/* acquire: pairs with ask(), for how much is wanted. */
		uint32_t asked = atomic_load_explicit(&its->reclaim_asked, memory_order_acquire);
		uint64_t nr_bytes =
			atomic_exchange_explicit(&its->reclaim_wanted, 0, memory_order_relaxed);

		if (nr_bytes)
			give_back(its, nr_bytes);
		/* seq_cst: a release for is_any_awaited(); and in this order for give_up_on(). */
		atomic_store_explicit(&its->reclaim_served, asked, memory_order_seq_cst);
		atomic_store_explicit(&its->can_reclaim, 1, memory_order_seq_cst);
		syscall(SYS_futex, &its->reclaim_asked, FUTEX_WAIT, asked, NULL, NULL, 0);
	}
	return NULL;
}

/* One that takes no signals of the program's. */
static int make_thread(struct shared_process *its)
{
	sigset_t all, old;
	pthread_t thread;
	int r;

	sigfillset(&all);
	/* What it evicts, and callbacks that it calls, may be faults (user/fault.h). */
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = system_thread_create(&thread, NULL, serve, its);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r)
		return -EAGAIN;
	pthread_detach(thread);
	return 0;
}

int serve_start(void)
{
	struct segment *segment = attach_segment();
	int r;

	/* relaxed: of several threads one makes it. */
	if (!segment || atomic_load_explicit(&is_served, memory_order_relaxed) ||
	    atomic_exchange_explicit(&is_served, true, memory_order_relaxed))
		return 0;
	r = make_thread(segment_process(segment, attach_process()));
	if (r)
		atomic_store_explicit(&is_served, false, memory_order_relaxed);
	return r;
}

void serve_renew(void)
{
	if (atomic_exchange_explicit(&was_served, false, memory_order_relaxed))
		serve_start();
}

void serve_forget(void)
{
	if (atomic_exchange_explicit(&is_served, false, memory_order_relaxed))
		atomic_store_explicit(&was_served, true, memory_order_relaxed);
}
