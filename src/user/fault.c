/* SPDX-License-Identifier: MIT */
#include "user/fault.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "kmem/heap.h"
#include "kmem/mapping.h"
#include "user/evict.h"
#include "user/fill.h"

/* What was there before; written before the handler can run. */
static struct sigaction previous;
static _Atomic bool is_in_place;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * The thread is inside the library, where a fault cannot be served: in the middle of a charge, or
 * in a handler of the program's that runs before a fork.
 */
static bool is_inside(void)
{
	/* relaxed: the thread itself writes them. */
	return mapping_thread_forks() || mapping_is_inside() ||
	       (thread.heap &&
		(thread.heap->is_at_work ||
		 atomic_load_explicit(&thread.heap->flight.row->charging, memory_order_relaxed) ||
		 atomic_load_explicit(&thread.heap->flight.row->uncharging, memory_order_relaxed)));
}

/* As the kernel does: ignored is only what somebody sent. */
static void do_default(int signal_number, const siginfo_t *info)
{
	const struct sigaction action = { .sa_handler = SIG_DFL };

	if (previous.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	sigaction(signal_number, &action, NULL);
	/* A fault is repeated when the handler returns; what was sent has to be sent again. */
	if (info->si_code <= 0)
		syscall(SYS_tgkill, getpid(), gettid(), signal_number);
}

/* Call the handler that was there before, with the signals blocked that it would have found so. */
static void chain(int signal_number, siginfo_t *info, void *context)
{
	sigset_t mask;

	if (!(previous.sa_flags & SA_SIGINFO) &&
	    (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN)) {
		do_default(signal_number, info);
		return;
	}
	sigorset(&mask, &((ucontext_t *)context)->uc_sigmask, &previous.sa_mask);
	if (!(previous.sa_flags & SA_NODEFER))
		sigaddset(&mask, signal_number);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (previous.sa_flags & SA_SIGINFO)
		previous.sa_sigaction(signal_number, info, context);
	else
		previous.sa_handler(signal_number);
}

static bool serve(const void *address)
{
	return is_inside() ? evict_fault(address) : !fill_fault(address);
}

static void handle(int signal_number, siginfo_t *info, void *context)
{
	int saved_errno = errno;
	bool is_served = info->si_code == BUS_ADRERR && serve(info->si_addr);

	errno = saved_errno;
	if (!is_served)
		chain(signal_number, info, context);
}

static int install(void)
{
	struct sigaction action = {
		.sa_sigaction = handle,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	/* Faults nest: a shrinker that is called in one may touch regions, too. */
	sigfillset(&action.sa_mask);
	sigdelset(&action.sa_mask, SIGBUS);
	if (sigaction(SIGBUS, NULL, &previous) || sigaction(SIGBUS, &action, NULL))
		return -errno;
	return 0;
}

int fault_prepare(void)
{
	int r = 0;

	/* acquire: pairs with the release below. */
	if (atomic_load_explicit(&is_in_place, memory_order_acquire))
		return 0;
	pthread_mutex_lock(&lock);
	if (!atomic_load_explicit(&is_in_place, memory_order_relaxed)) {
		r = install();
		atomic_store_explicit(&is_in_place, !r, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return r;
}
