/* SPDX-License-Identifier: MIT */
#include "charge/overage.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "charge/flight.h"

#define NS_PER_S 1000000000ull

_Atomic bool high_is_used;

/* A futex: how often those who wait were told to look again. */
static _Atomic uint32_t nr_changes;

void overage_use(void)
{
	/* Relaxed: who charges next may see it late. */
	atomic_store_explicit(&high_is_used, true, memory_order_relaxed);
}

uint64_t overage_here(uint32_t id, uint64_t *ret_high)
{
	struct counter *counter = counter_row(id);
	/* Relaxed: each is right at some instant, and who waits looks again. */
	uint64_t high = atomic_load_explicit(&counter_limit(counter)->high, memory_order_relaxed);
	uint64_t usage = atomic_load_explicit(&counter->usage, memory_order_relaxed);

	*ret_high = high;
	return usage > high ? usage - high : 0;
}

bool overage_is_on_path(uint32_t id)
{
	uint64_t high;

	while (id && !overage_here(id, &high))
		id = counter_parent(id);
	return id != 0;
}

void overage_count(struct flight *flight, uint32_t id, uint64_t nr_bytes)
{
	if (overage_is_on_path(id))
		flight->nr_over_high += nr_bytes;
}

void overage_set_high(uint32_t id, uint64_t high)
{
	atomic_store_explicit(&counter_limit(counter_row(id))->high, high, memory_order_relaxed);
	if (high != COUNTER_MAX)
		overage_use();
	overage_wake();
}

uint32_t overage_changes(void)
{
	/* Acquire pairs with overage_wake(). */
	return atomic_load_explicit(&nr_changes, memory_order_acquire);
}

void overage_wake(void)
{
	int saved_errno = errno;

	/* Release: who sees the number sees what was changed before. */
	atomic_fetch_add_explicit(&nr_changes, 1, memory_order_release);
	syscall(SYS_futex, &nr_changes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	errno = saved_errno;
}

bool overage_wait(uint32_t changes, uint64_t timeout_ns)
{
	struct timespec timeout = { .tv_sec = timeout_ns / NS_PER_S,
				    .tv_nsec = timeout_ns % NS_PER_S };
	int saved_errno = errno;
	bool is_interrupted;

	/* With a timeout it is never begun anew after a handler, whatever SA_RESTART says. */
	is_interrupted =
		syscall(SYS_futex, &nr_changes, FUTEX_WAIT_PRIVATE, changes, &timeout, NULL, 0) &&
		errno == EINTR;
	errno = saved_errno;
	return !is_interrupted;
}
