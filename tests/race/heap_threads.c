/* SPDX-License-Identifier: MIT */
/* Threads come and go, and fork: their heaps and what is in them stay in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "resident.h"
#include "umemcg.h"

enum { NR_THREADS = 4, NR_KEPT = 200 };

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { NR_GENERATIONS = 20, NR_FORKS = 8 };
#else
enum { NR_GENERATIONS = 300, NR_FORKS = 30 };
#endif

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN true
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN false
#endif

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN true
#else
#define UNDER_ASAN false
#endif

static void *kept[NR_THREADS][NR_KEPT];
static atomic_bool stop;

/* All threads of a generation are there at once, so that there are as many heaps each time. */
static pthread_barrier_t barrier;

static size_t size_of(unsigned int i)
{
	return i % 50 == 0 ? 80000 : 16 + i * 37 % 3000;
}

static void *allocate_and_exit(void *arg)
{
	void **objects = arg;

	pthread_barrier_wait(&barrier);
	for (unsigned int i = 0; i < NR_KEPT; i++) {
		objects[i] = umemcg_malloc(size_of(i));
		memset(objects[i], 1, size_of(i));
	}
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void *free_and_exit(void *arg)
{
	void **objects = arg;

	pthread_barrier_wait(&barrier);
	for (unsigned int i = 0; i < NR_KEPT; i++)
		umemcg_free(objects[i]);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void run(void *(*start)(void *), unsigned int shift)
{
	pthread_t threads[NR_THREADS];

	for (unsigned int i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, start, kept[(i + shift) % NR_THREADS]);
	for (unsigned int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void threads_that_come_and_go_leave_nothing_behind(void **state)
{
	size_t nr_bytes = 0;

	(void)state;
	for (unsigned int i = 0; i < NR_GENERATIONS; i++) {
		run(allocate_and_exit, 0);
		run(free_and_exit, i);
		if (i == NR_GENERATIONS / 4)
			nr_bytes = resident_bytes();
	}
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
	assert_true(resident_bytes() < nr_bytes + (2 << 20));
#else
	(void)nr_bytes; /* A sanitizer's shadow memory is resident as well. */
#endif
	if (umemcg_state() == UMEMCG_ENABLED) {
		struct umemcg_audit audit;

		assert_int_equal(umemcg_audit(&audit), 0);
		assert_int_equal(audit.nr_objects, 0);
	}
}

static pthread_key_t key;

static void allocate_late(void *arg)
{
	void *object = umemcg_malloc(100);

	umemcg_free(arg);
	umemcg_free(object);
}

static void *leave_work_for_the_end(void *arg)
{
	(void)arg;
	pthread_setspecific(key, umemcg_malloc(3000));
	return NULL;
}

static void destructors_of_other_keys_may_allocate(void **state)
{
	(void)state;
	assert_int_equal(pthread_key_create(&key, allocate_late), 0);
	for (unsigned int i = 0; i < NR_GENERATIONS; i++)
		run(leave_work_for_the_end, 0);
	if (umemcg_state() == UMEMCG_ENABLED) {
		struct umemcg_audit audit;

		assert_int_equal(umemcg_audit(&audit), 0);
		assert_int_equal(audit.nr_objects, 0);
	}
}

static pthread_key_t last_key;

static void allocate_in_every_round(void *arg)
{
	(void)arg;
	umemcg_free(umemcg_malloc(100));
	pthread_setspecific(last_key, umemcg_malloc(100));
}

static void *be_late(void *arg)
{
	umemcg_enter(arg);
	pthread_setspecific(last_key, umemcg_malloc(100));
	return NULL;
}

/* Its key comes after the library's, so in the last round nobody calls that one's any more. */
static void a_thread_that_allocates_to_the_very_end_is_gone_then(void **state)
{
	struct umemcg *group;
	pthread_attr_t attr;

	(void)state;
	if (UNDER_TSAN) {
		printf("SKIP: ThreadSanitizer itself ends before the last destructors\n");
		skip();
	}
	umemcg_free(umemcg_malloc(1));
	assert_int_equal(pthread_key_create(&last_key, allocate_in_every_round), 0);
	assert_int_equal(umemcg_create(NULL, NULL, &group), 0);
	/* Too large for libc to keep: what the thread had is unmapped with it. */
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 48 << 20);
	for (unsigned int i = 0; i < 20; i++) {
		char threads[64] = "";
		struct umemcg *other;
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, &attr, be_late, group), 0);
		pthread_join(thread, NULL);
		if (umemcg_state() != UMEMCG_ENABLED)
			continue;
		assert_int_equal(umemcg_create(NULL, NULL, &other), 0);
		assert_int_equal(umemcg_destroy(other), 0);
		umemcg_read(group, "cgroup.threads", threads, sizeof(threads));
		assert_string_equal(threads, "");
	}
	pthread_attr_destroy(&attr);
	pthread_key_delete(last_key);
	if (umemcg_state() == UMEMCG_ENABLED) {
		assert_int_equal(umemcg_free_all(group), 0);
		umemcg_drain(NULL);
		assert_int_equal(umemcg_get_current(group), 0);
		assert_int_equal(umemcg_destroy(group), 0);
	}
}

static void *_Atomic exchanged[64];

/*
 * To start a thread, AddressSanitizer allocates, and it does not hold its own allocator over a
 * fork: if a thread is starting then, the child's threads may wait for ever for the lock that one
 * had. So under it the first fork waits until all have started; without it, none does.
 */
static pthread_barrier_t started;

static void *work_until_stopped(void *arg)
{
	uint64_t r = (uintptr_t)arg;

	if (UNDER_ASAN)
		pthread_barrier_wait(&started);
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		void *object;

		r = r * 6364136223846793005u + 1442695040888963407u;
		object = umemcg_malloc(size_of(r >> 40));
		*(uint64_t *)object = r;
		umemcg_free(atomic_exchange_explicit(&exchanged[r >> 58], object,
						     memory_order_acq_rel));
	}
	return NULL;
}

/* What the child can do is what any process can; its status says whether it could. */
static void live_on_in_child(void)
{
	static void *objects[20000];

	alarm(60);
	for (unsigned int i = 0; i < 20000; i++) {
		objects[i] = umemcg_malloc(size_of(i) % 2000);
		if (!objects[i])
			_exit(1);
		memset(objects[i], 3, 1 + size_of(i) % 2000 / 2);
	}
	for (unsigned int i = 0; i < 64; i++)
		umemcg_free(exchanged[i]);
	run(allocate_and_exit, 0);
	run(free_and_exit, 1);
	for (unsigned int i = 0; i < 20000; i++)
		umemcg_free(objects[i]);
	_exit(0);
}

static void the_child_of_a_fork_among_threads_can_allocate(void **state)
{
	pthread_t threads[NR_THREADS];

	(void)state;
#if defined(__SANITIZE_THREAD__)
	print_message("SKIP: ThreadSanitizer cannot follow threads in a child of threads\n");
	skip();
#endif
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, work_until_stopped, (void *)(i + 1));
	if (UNDER_ASAN)
		pthread_barrier_wait(&started);
	for (unsigned int i = 0; i < NR_FORKS; i++) {
		pid_t pid = fork();
		int status;

		if (!pid)
			live_on_in_child();
		assert_true(pid > 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	atomic_store(&stop, true);
	for (unsigned int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned int i = 0; i < 64; i++)
		umemcg_free(exchanged[i]);
	if (umemcg_state() == UMEMCG_ENABLED) {
		struct umemcg_audit audit;

		assert_int_equal(umemcg_audit(&audit), 0);
		assert_int_equal(audit.nr_objects, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_come_and_go_leave_nothing_behind),
		cmocka_unit_test(destructors_of_other_keys_may_allocate),
		cmocka_unit_test(a_thread_that_allocates_to_the_very_end_is_gone_then),
		cmocka_unit_test(the_child_of_a_fork_among_threads_can_allocate),
	};

	pthread_barrier_init(&barrier, NULL, NR_THREADS);
	pthread_barrier_init(&started, NULL, NR_THREADS + 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
