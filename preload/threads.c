/* SPDX-License-Identifier: MIT */
/*
 * Threads of a program that knows nothing of groups: they begin in the group of who made them, and
 * it pays for their stacks for as long as they run.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <threads.h>

#include "base/init.h"
#include "base/system.h"
#include "group/group.h"
#include "interpose.h"
#include "kmem/again.h"
#include "kmem/spawn.h"
#include "real.h"
#include "umemcg.h"

int system_thread_create(pthread_t *ret_thread, const pthread_attr_t *attr,
			 void *(*start)(void *arg), void *arg)
{
	static struct real next = { .name = "pthread_create" };
	int (*real_create)(pthread_t * ret_thread, const pthread_attr_t *attr,
			   void *(*start)(void *arg), void *arg) = real_find(&next);

	return real_create ? real_create(ret_thread, attr, start, arg) : ENOSYS;
}

/* If the thread's group was destroyed while it was in it, the root, as for malloc. */
static struct umemcg *group_of_caller(void)
{
	struct umemcg *group = umemcg_current();

	return group_is_live(group) ? group : group_root();
}

static bool is_counting(void)
{
	return CONFIG_MEMCG && library_counts(LIBRARY_COUNTS);
}

/* Charged anew for as long as room is made. */
static int spawn(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*start)(void *arg),
		 void *arg)
{
	struct charge_attempt attempt = { 0 };
	int r;

	do {
		r = spawn_thread(group_of_caller(), ret_thread, attr, start, arg);
	} while ((r == -ENOMEM || r == -EAGAIN) && thread_try_again(&attempt));
	return r;
}

/* What lacks is EAGAIN here, whatever it is. */
static int error_of(int r)
{
	return r == -ENOMEM ? EAGAIN : -r;
}

interposed int pthread_create(pthread_t *ret_thread, const pthread_attr_t *attr,
			      void *(*start)(void *arg), void *arg)
{
	if (!is_counting())
		return system_thread_create(ret_thread, attr, start, arg);
	return error_of(spawn(ret_thread, attr, start, arg));
}

/* The same in C11, whose threads return an int. */
struct c11_thread {
	thrd_start_t start;
	void *arg;
};

/* A thread of libc's ends so, too: thrd_join() takes the int from the pointer. */
static void *begin_c11(void *arg)
{
	struct c11_thread thread = *(struct c11_thread *)arg;

	umemcg_free(arg);
	return (void *)(intptr_t)thread.start(thread.arg);
}

static int create_c11(thrd_t *ret_thread, thrd_start_t start, void *arg)
{
	struct c11_thread *thread = umemcg_malloc(sizeof(*thread));
	int r;

	if (!thread)
		return thrd_nomem;
	*thread = (struct c11_thread){ .start = start, .arg = arg };
	r = spawn(ret_thread, NULL, begin_c11, thread);
	if (r)
		umemcg_free(thread);
	return r == -ENOMEM ? thrd_nomem : r ? thrd_error : thrd_success;
}

interposed int thrd_create(thrd_t *ret_thread, thrd_start_t start, void *arg)
{
	static struct real next = { .name = "thrd_create" };
	int (*real_create)(thrd_t * ret_thread, thrd_start_t start, void *arg);

	if (is_counting())
		return create_c11(ret_thread, start, arg);
	real_create = real_find(&next);
	return real_create ? real_create(ret_thread, start, arg) : thrd_error;
}
