/* SPDX-License-Identifier: MIT */
/*
 * Wakers: a group that has subscribers has one, which wakes them at most once in a while.
 *
 * The first event after a quiet time wakes at once. What follows too soon is pending, and told by
 * the worker when the time is over, so no event is the last and untold.
 */
#ifndef UMEMCG_RECLAIM_WAKER_H
#define UMEMCG_RECLAIM_WAKER_H

#include <stdint.h>

#include "umemcg.h"

/* A group wakes its subscribers no sooner again; the kernel's CGROUP_FILE_NOTIFY_MIN_INTV. */
#define WAKER_INTERVAL_NS 10000000u

/** waker_init - be told of events, once */
void waker_init(void);

/**
 * waker_join - a live group, which has a rare row, is to wake a subscription
 *
 * Under the lock of the tree, and that of the subscriptions.
 *
 * Return: 0 or -ENOMEM.
 */
int waker_join(struct umemcg *group, uint32_t subscription);

/** waker_leave - its reverse; nothing happens if the group is gone. Under the latter lock */
void waker_leave(uint32_t subscription);

/** waker_tell_now - of a live group and those above it: what is pending must not wait */
void waker_tell_now(const struct umemcg *group);

/** waker_forget_all - in a child, whose groups have no subscribers */
void waker_forget_all(void);

#endif
