/* SPDX-License-Identifier: MIT */
/* Everything at once: threads that start one another, in groups that come and go. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "operations.h"
#include "slot.h"
#include "torture.h"
#include "umemcg.h"

/* ThreadSanitizer has taken a thread's state down before its last destructors run. */
#if defined(__SANITIZE_THREAD__)
#define NR_LATE_ROUNDS 0u
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NR_LATE_ROUNDS 0u
#endif
#endif
#ifndef NR_LATE_ROUNDS
#define NR_LATE_ROUNDS 3u
#endif

static _Atomic(uint64_t) nr_steps_left;
static _Atomic unsigned int nr_running;
static pthread_key_t late_key;

/* Runs after the heap's own destructor as well, and allocates there. */
static void late_destructor(void *object)
{
	uintptr_t rounds_left = *(uintptr_t *)object;

	umemcg_free(object);
	if (!rounds_left)
		return;
	object = umemcg_malloc(sizeof(rounds_left));
	if (!object)
		return;
	*(uintptr_t *)object = rounds_left - 1;
	pthread_setspecific(late_key, object);
}

static void leave_something_late(unsigned int *random)
{
	uintptr_t *object = umemcg_malloc(sizeof(*object));

	if (!object)
		return;
	*object = NR_LATE_ROUNDS ? rand_r(random) % (NR_LATE_ROUNDS + 1) : 0;
	pthread_setspecific(late_key, object);
}

static uint64_t take_steps(uint64_t nr)
{
	uint64_t left = atomic_load(&nr_steps_left);

	while (left &&
	       !atomic_compare_exchange_weak(&nr_steps_left, &left, left > nr ? left - nr : 0))
		;
	return left < nr ? left : nr;
}

static void *live(void *arg);

/* A thread in some group, whose slot it holds, so that the group stays until the new one is in. */
static void start_another(unsigned int *random)
{
	pthread_attr_t attr;
	pthread_t other;
	int r;

	atomic_fetch_add(&nr_running, 1);
	require(!pthread_attr_init(&attr));
	require(!pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED));
	require(!pthread_attr_setstacksize(&attr, 1 << 18));
	do {
		void *arg = (void *)(uintptr_t)rand_r(random);

		if (rand_r(random) % 2)
			r = umemcg_thread_create(&other, &attr, live, arg);
		else
			r = -pthread_create(&other, &attr, live, arg);
		require(!r || r == -ENOMEM || r == -EAGAIN);
	} while (r);
	pthread_attr_destroy(&attr);
}

static void *live(void *arg)
{
	unsigned int random = (unsigned int)(uintptr_t)arg ^ seed;
	uint64_t nr_steps = take_steps(200 + rand_r(&random) % 2000);

	umemcg_enter(NULL);
	while (nr_steps) {
		struct slot *slot = any_slot(&random);
		struct umemcg *before;

		if (rand_r(&random) % 64 == 0)
			replace_group(slot, &random);
		if (pthread_rwlock_tryrdlock(&slot->lock))
			continue;
		before = umemcg_enter(slot->group);
		for (unsigned int i = rand_r(&random) % 16; i && nr_steps; i--, nr_steps--)
			one_step(slot, &random);
		umemcg_enter(before);
		pthread_rwlock_unlock(&slot->lock);
	}
	leave_something_late(&random);
	if (rand_r(&random) % 4 == 0)
		umemcg_reserve_enter();
	if (atomic_load(&nr_steps_left))
		start_another(&random);
	atomic_fetch_sub(&nr_running, 1);
	return NULL;
}

static void wait_for_threads(void)
{
	char threads[64];

	while (atomic_load(&nr_running))
		usleep(1000);
	/* Their last destructors, too: nobody is listed any more but perhaps this thread. */
	for (unsigned int i = 0; i < 2000; i++) {
		if (umemcg_read(NULL, "cgroup.threads", threads, sizeof(threads)) < 16)
			break;
		usleep(1000);
	}
	usleep(20000);
}

static void assert_books_balance(void)
{
	struct umemcg_audit audit;
	int r = umemcg_audit(&audit);

	if (r)
		fprintf(stderr, "audit: %d, off by %" PRIu64 " bytes\n", r,
			audit.nr_bytes_difference);
	assert_int_equal(r, 0);
}

void everything_at_once_leaves_nothing_behind(void **state)
{
	(void)state;
	give_up_after(120);
	assert_int_equal(umemcg_create(NULL, "torture", &top), 0);
	assert_int_equal(umemcg_cache_create("torture", 72, 0, NULL, &cache), 0);
	assert_int_equal(pthread_key_create(&late_key, late_destructor), 0);
	slots_init();
	for (uint64_t round = 0; round < rounds(2); round++) {
		unsigned int random = seed + (unsigned int)round;

		atomic_store(&nr_steps_left, 60000);
		for (unsigned int i = 0; i < NR_THREADS; i++)
			start_another(&random);
		wait_for_threads();
		assert_books_balance();
	}
	free_shared();
	for (unsigned int i = 0; i < NR_SLOTS; i++) {
		umemcg_uncharge(slots[i].group, atomic_load(&slots[i].nr_explicit));
		umemcg_drain(slots[i].group);
		assert_int_equal(umemcg_get_current(slots[i].group), 0);
		assert_int_equal(umemcg_destroy(slots[i].group), 0);
	}
	umemcg_drain(top);
	assert_int_equal(umemcg_get_current(top), 0);
	assert_int_equal(umemcg_destroy(top), 0);
	assert_int_equal(umemcg_cache_destroy(cache), 0);
	assert_books_balance();
	alarm(0);
}
