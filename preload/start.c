/* SPDX-License-Identifier: MIT */
/*
 * Loaded into a program. The build has the loader call this ahead of all other constructors, so
 * that what the library registers for forks comes before anything that allocates there; libc has
 * not seen the environment yet, which the library reads.
 */
#include <stddef.h>
#include <unistd.h>

#include "abort.h"
#include "base/init.h"
#include "reclaim/high.h"

__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
	(void)argc;
	(void)argv;
	if (!environ)
		environ = envp;
	library_init();
	if (CONFIG_MEMCG)
		high_throttle_allocations();
	abort_init();
}
