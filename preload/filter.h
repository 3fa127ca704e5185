/* SPDX-License-Identifier: MIT */
/*
 * Handing a process over to the supervisor of `umemcg run', just before it executes a program that
 * cannot account itself: one that is linked statically, or started without the preload object.
 *
 * The kernel then asks the supervisor before each call that takes or gives back memory. What the
 * two sides say to each other is here too.
 */
#ifndef UMEMCG_PRELOAD_FILTER_H
#define UMEMCG_PRELOAD_FILTER_H

#include <stdint.h>

/** Names the supervisor's socket: a path, or, behind an '@', an abstract name. */
#define FILTER_ENVIRONMENT "UMEMCG_SUPERVISOR"

/**
 * One byte a message: the supervisor greets, the process sends FILTER_LISTENER with the descriptor,
 * the supervisor says whether it took it. Nothing is installed before the greeting has come.
 */
enum filter_message {
	FILTER_GREETING = 'g',
	FILTER_LISTENER = 'l',
	FILTER_TAKEN = 't',
	FILTER_REFUSED = 'r',
};

/**
 * munmap() of no bytes here is EINVAL, unless a supervisor answers: it gives filter_token() of its
 * name instead. So a process learns whose filter it is under already.
 */
#define FILTER_PROBE_ADDRESS 0x756d656d6367000ul

/** filter_token - a positive number that stands for a supervisor (FNV-1a of its name) */
static inline uint32_t filter_token(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return (hash & 0x7fffffff) | 1;
}

/**
 * filter_prepare - put the calling thread under the supervisor's eyes; exec is to follow
 * @name: value of FILTER_ENVIRONMENT
 *
 * Async-signal-safe; fit for a child of vfork, whose parent it does not touch. Waits for the
 * supervisor no longer than some seconds. Sets no_new_privs if the kernel demands it. The filter
 * cannot be taken off again: should exec fail, the calls of this thread are asked about for ever.
 *
 * Return: 0, also if the thread is under this supervisor's filter already; -EBUSY under another's;
 * -ENOSYS if the kernel cannot do it; -EACCES, -EPERM if it may not, or the supervisor does not
 * want this process; -ETIMEDOUT, -ECONNREFUSED, -ENOENT, ... if the supervisor cannot be reached.
 * After any error but -EIO there is no filter. -EIO: the supervisor and its guardian were lost in
 * between: a program that is executed now gets ENOSYS for what it maps.
 */
int filter_prepare(const char *name);

/** filter_reason - why filter_prepare() failed, for one line to the user */
const char *filter_reason(int error);

#endif
