/* SPDX-License-Identifier: MIT */
/*
 * Whose memory is this? A child of vfork, or of posix_spawn before its exec, runs in its parent's,
 * and must not take for its own what is the parent's.
 *
 * One word holds the pid of the process whose memory it lies in, on a page that the kernel wipes
 * for a child that gets a copy. So a child in its parent's memory reads another's pid; one that has
 * a copy reads its own once the handler of fork has run, or nothing if no handler did.
 */
#ifndef UMEMCG_PRELOAD_OWN_MEMORY_H
#define UMEMCG_PRELOAD_OWN_MEMORY_H

#include <stdbool.h>

void own_memory_init(void);

/** own_memory_is_ours - for sure; a child made by a raw system call cannot tell, and says no */
bool own_memory_is_ours(void);

#endif
