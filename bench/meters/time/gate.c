/* SPDX-License-Identifier: MIT */
/* A gate in shared memory, over a futex. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "meters/time/gate.h"

static void futex_wait(_Atomic uint32_t *word, uint32_t value, const struct timespec *timeout)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, timeout, NULL, 0);
}

static void futex_wake_all(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void gate_wait(struct gate *gate)
{
	/* Release: pairs with the acquire in gate_await(); what the worker wrote is seen there. */
	atomic_fetch_add_explicit(&gate->nr_waiting, 1, memory_order_release);
	futex_wake_all(&gate->nr_waiting);
	/* Acquire: pairs with the release in gate_open(). */
	while (!atomic_load_explicit(&gate->open, memory_order_acquire))
		futex_wait(&gate->open, 0, NULL);
}

int gate_await(struct gate *gate, uint32_t nr_workers, bool (*lost)(void))
{
	const struct timespec patience = { .tv_nsec = 50000000 };
	uint32_t nr_waiting;

	/* Acquire: pairs with the release in gate_wait(). */
	while ((nr_waiting = atomic_load_explicit(&gate->nr_waiting, memory_order_acquire)) <
	       nr_workers) {
		futex_wait(&gate->nr_waiting, nr_waiting, &patience);
		if (lost && lost())
			return -ECHILD;
	}
	return 0;
}

void gate_open(struct gate *gate)
{
	/* Release: pairs with the acquire in gate_wait(). */
	atomic_store_explicit(&gate->open, 1, memory_order_release);
	futex_wake_all(&gate->open);
}
