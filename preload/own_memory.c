/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "own_memory.h"
#include "raw.h"

/*
 * Written by the only thread of a process that begins or has just been forked, read by any thread
 * of it that is made later, and by children in its memory: relaxed is enough.
 */
static _Atomic pid_t *owner;

static void take(void)
{
	atomic_store_explicit(owner, (pid_t)syscall(SYS_getpid), memory_order_relaxed);
}

void own_memory_init(void)
{
	void *page = raw_map(sizeof(*owner));

	if (!page)
		return;
	/* Before Linux 4.14 a copy holds the parent's pid: it is not the child's either. */
	syscall(SYS_madvise, page, sizeof(*owner), MADV_WIPEONFORK);
	owner = page;
	take();
	pthread_atfork(NULL, NULL, take);
}

bool own_memory_is_ours(void)
{
	/* Pairs with take(). */
	return owner &&
	       atomic_load_explicit(owner, memory_order_relaxed) == (pid_t)syscall(SYS_getpid);
}
