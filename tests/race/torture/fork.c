/* SPDX-License-Identifier: MIT */
/* Forking beside threads that allocate. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "object.h"
#include "torture.h"
#include "umemcg.h"

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN true
#else
#define UNDER_ASAN false
#endif

#define NR_LOST      6u
#define LARGEST_LOST ((uint64_t)1 << 20)

static _Atomic bool stop;

/*
 * To start a thread, AddressSanitizer allocates, and it does not hold its own allocator over a
 * fork: if a thread is starting then, the child's search for leaks may wait for ever for the lock
 * that one had. So under it the first fork waits until all have started; without it, none does.
 */
static pthread_barrier_t started;

static void *allocate_at_random(void *arg)
{
	unsigned int random = seed + (unsigned int)(uintptr_t)pthread_self();
	struct object *objects[64] = { NULL };

	if (UNDER_ASAN)
		pthread_barrier_wait(&started);
	umemcg_enter(arg);
	while (!atomic_load(&stop)) {
		unsigned int i = rand_r(&random) % 64;

		if (objects[i])
			check(objects[i]);
		umemcg_free(objects[i]);
		objects[i] = make(arg, &random);
	}
	for (unsigned int i = 0; i < 64; i++)
		umemcg_free(objects[i]);
	return NULL;
}

/*
 * What threads that a fork child has lost may leave wrong in its books: each was perhaps between an
 * object and its charge.
 */
static bool is_within_what_was_lost(const struct umemcg_audit *audit)
{
	return audit->nr_bytes_difference <= NR_LOST * LARGEST_LOST;
}

/* In the child: allocate, make a thread, fork again, and look at the books. */
static int be_a_child(struct umemcg *group, unsigned int depth)
{
	unsigned int random = seed + depth;
	struct umemcg_audit audit, later;
	struct umemcg *own;
	int status = 0;
	pid_t child;

	give_up_after(30);
	umemcg_audit(&audit);
	if (!is_within_what_was_lost(&audit))
		return 10;
	for (unsigned int i = 0; i < 300; i++)
		umemcg_free(make(group, &random));
	atomic_store(&stop, true);
	if (umemcg_create(group, NULL, &own) || !umemcg_malloc_in(own, 100))
		return 11;
	if (umemcg_free_all(own) || umemcg_destroy(own))
		return 12;
	if (depth) {
		child = fork();
		if (!child)
			_exit(be_a_child(group, depth - 1));
		if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
			return 13;
	}
	if (WEXITSTATUS(status))
		return WEXITSTATUS(status);
	/* Whatever the child and its own children did adds nothing to that. */
	umemcg_audit(&later);
	return later.nr_bytes_difference == audit.nr_bytes_difference ? 0 : 14;
}

void a_child_finds_its_books_in_order(void **state)
{
	struct umemcg *group;
	pthread_t threads[NR_LOST];

	(void)state;
	give_up_after(120);
	atomic_store(&stop, false);
	pthread_barrier_init(&started, NULL, NR_LOST + 1);
	assert_int_equal(umemcg_create(NULL, NULL, &group), 0);
	assert_int_equal(umemcg_set_max(group, 64 << 20), 0);
	for (unsigned int i = 0; i < NR_LOST; i++) {
		int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
			i % 2 ? umemcg_thread_create : pthread_create;

		assert_int_equal(create(&threads[i], NULL, allocate_at_random, group), 0);
	}
	if (UNDER_ASAN)
		pthread_barrier_wait(&started);
	for (uint64_t i = 0; i < rounds(4); i++) {
		int status;
		pid_t child;

		fflush(NULL);
		child = fork();
		if (!child) {
			int r = be_a_child(group, 1);

			if (i % 2)
				_exit(r);
			exit(r);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	atomic_store(&stop, true);
	for (unsigned int i = 0; i < NR_LOST; i++)
		pthread_join(threads[i], NULL);
	umemcg_drain(group);
	assert_int_equal(umemcg_get_current(group), 0);
	assert_int_equal(umemcg_destroy(group), 0);
	alarm(0);
}
