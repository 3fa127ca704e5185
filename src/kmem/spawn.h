/* SPDX-License-Identifier: MIT */
/* Threads whose stacks are charged. */
#ifndef UMEMCG_KMEM_SPAWN_H
#define UMEMCG_KMEM_SPAWN_H

#include <pthread.h>
#include <stdbool.h>

#include "umemcg.h"

/** spawn_init - called once, before the first thread is made; 0 or -ENOMEM */
int spawn_init(void);

/** spawn_brings_stack - do these attributes have a stack of the caller's own? */
bool spawn_brings_stack(const pthread_attr_t *attr);

/**
 * spawn_thread - umemcg_thread_create(), the stack charged to @group, and starting in it
 *
 * A stack of the caller's own is not charged: its memory is already.
 */
int spawn_thread(struct umemcg *group, pthread_t *ret_thread, const pthread_attr_t *attr,
		 void *(*start)(void *arg), void *arg);

/**
 * spawn_is_beginning_in - was a thread made in a group that heap_thread_is_in() cannot see there
 * yet?
 *
 * To be asked first: it begins, and is seen there then.
 */
bool spawn_is_beginning_in(const struct umemcg *group);

/** spawn_lock - keep the table of threads as it is; around a fork */
void spawn_lock(void);
void spawn_unlock(void);

/** spawn_forget_others - in a fork child: give back the stacks of the threads it does not have */
void spawn_forget_others(void);

#endif
