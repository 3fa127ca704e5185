/* SPDX-License-Identifier: MIT */
#include "charge/barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Written at start and read ever after. */
static bool available;

void barrier_init(void)
{
	available = !FAST_PATH_IS_PLAIN ||
		    !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

bool barrier_is_available(void)
{
	return available;
}

bool barrier_join(void)
{
	return !FAST_PATH_IS_PLAIN ||
	       !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
}

bool barrier_all_processes(void)
{
	return !FAST_PATH_IS_PLAIN ||
	       !syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

void barrier_all_threads(void)
{
	if (FAST_PATH_IS_PLAIN)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}
