/* SPDX-License-Identifier: MIT */
/* The barrier that a drain runs on all threads, so that their fast paths need none. */
#ifndef UMEMCG_CHARGE_BARRIER_H
#define UMEMCG_CHARGE_BARRIER_H

#include <stdbool.h>

/*
 * Where the fast path uses locked instructions, closing a word needs no more than its swap, and
 * the barrier is none.
 */
#if defined(__x86_64__) && !CONFIG_PORTABLE_ATOMICS
#define FAST_PATH_IS_PLAIN 1
#else
#define FAST_PATH_IS_PLAIN 0
#endif

/** barrier_init - ask the kernel for it; also in a fork child */
void barrier_init(void);

/** barrier_is_available - else stocks stay closed, and every charge is exact */
bool barrier_is_available(void);

/** barrier_join - ask the kernel that barriers of other processes reach this one; false: they do
 * not. Lasts over fork, until exec */
bool barrier_join(void);

/** barrier_all_processes - so have all threads of all processes that joined; false: it may not be
 * asked for any more, by a filter of system calls */
bool barrier_all_processes(void);

/** barrier_all_threads - every thread of the process has run a full barrier when this returns */
void barrier_all_threads(void);

#endif
