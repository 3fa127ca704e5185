/* SPDX-License-Identifier: MIT */
/*
 * Every call comes back: none waits for what another thread leaves behind, or for one that waits
 * for it. Each test runs in a process of its own, which an alarm ends if something hangs.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "umemcg.h"

/* How long the threads are let loose on each other, and when a process counts as hanging. */
#define NR_SECONDS       3
#define NR_SECONDS_LIMIT 30
#define NR_LIMITED       3

static atomic_bool stop;

static bool is_over(void)
{
	static time_t end;

	if (!end)
		end = time(NULL) + NR_SECONDS;
	return time(NULL) >= end;
}

static void create(struct umemcg *parent, struct umemcg **ret_group)
{
	if (umemcg_create(parent, NULL, ret_group))
		abort();
}

static pthread_t start(void *(*body)(void *arg), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, arg))
		abort();
	return thread;
}

/* The threads of the body may be many and never end: it runs in a child, which exits with 0. */
static void assert_ends(void (*body)(void), unsigned int nr_seconds)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		alarm(nr_seconds);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		print_message("ended by signal %d\n", WTERMSIG(status));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void *leave_objects_of_dead_groups(void *arg)
{
	while (!stop) {
		struct umemcg *group, *before;
		void *object;

		create(arg, &group);
		before = umemcg_enter(group);
		object = umemcg_malloc(50);
		umemcg_enter(before);
		if (!object || umemcg_destroy(group))
			abort();
		umemcg_free(object);
	}
	return NULL;
}

static void read_beside_frees(void)
{
	struct umemcg *parent;
	struct umemcg_stat stat;
	pthread_t threads[2];

	create(NULL, &parent);
	for (unsigned int i = 0; i < 2; i++)
		threads[i] = start(leave_objects_of_dead_groups, parent);
	while (!is_over()) {
		/* Thousands of reads between two looks at the clock. */
		for (unsigned int i = 0; i < 4096; i++)
			if (umemcg_get_stat(parent, &stat))
				abort();
	}
	stop = true;
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	umemcg_drain(parent);
	if (umemcg_get_current(parent))
		abort();
}

static void statistics_can_be_read_while_heirs_are_repaid(void **state)
{
	(void)state;
	assert_ends(read_beside_frees, NR_SECONDS_LIMIT);
}

static struct umemcg *limited[NR_LIMITED];

static void *change_limit(void *arg)
{
	for (uint64_t i = 0; !stop; i++)
		if (umemcg_set_max(arg, ((uint64_t)1 << 30) + i % 7))
			abort();
	return NULL;
}

static void charge_each(void)
{
	for (unsigned int i = 0; i < NR_LIMITED; i++) {
		if (umemcg_try_charge(limited[i], 5))
			_exit(1);
		umemcg_uncharge(limited[i], 5);
	}
}

/* The alarm of a child is its own: it inherits none. */
static void fork_beside_limits(void)
{
	pthread_t threads[NR_LIMITED];

	for (unsigned int i = 0; i < NR_LIMITED; i++) {
		create(NULL, &limited[i]);
		threads[i] = start(change_limit, limited[i]);
	}
	while (!is_over()) {
		pid_t pid = fork();
		int status;

		if (pid < 0)
			abort();
		if (!pid) {
			alarm(NR_SECONDS_LIMIT / 3);
			charge_each();
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			_exit(1);
	}
	stop = true;
	for (unsigned int i = 0; i < NR_LIMITED; i++)
		pthread_join(threads[i], NULL);
}

static void a_fork_child_does_not_wait_for_threads_that_it_lost(void **state)
{
	(void)state;
	assert_ends(fork_beside_limits, NR_SECONDS_LIMIT);
}

static atomic_bool is_visiting;

static void *destroy_once_visited(void *arg)
{
	while (!is_visiting)
		;
	if (umemcg_destroy(arg))
		abort();
	return NULL;
}

static int map_and_unmap(struct umemcg *group, void *arg)
{
	struct timespec tenth = { .tv_nsec = 100000000 };
	void *region;

	(void)arg;
	is_visiting = true;
	/* Until the other thread waits for the visit to end. */
	nanosleep(&tenth, NULL);
	if (umemcg_map(group, 1, &region) || umemcg_unmap(region))
		abort();
	return 0;
}

static void map_in_a_group_that_ends(void)
{
	struct umemcg *group;
	pthread_t thread;

	create(NULL, &group);
	thread = start(destroy_once_visited, group);
	if (umemcg_walk(group, map_and_unmap, NULL))
		abort();
	pthread_join(thread, NULL);
}

static void a_visit_may_map_while_its_group_is_to_be_destroyed(void **state)
{
	(void)state;
	assert_ends(map_in_a_group_that_ends, NR_SECONDS_LIMIT / 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statistics_can_be_read_while_heirs_are_repaid),
		cmocka_unit_test(a_fork_child_does_not_wait_for_threads_that_it_lost),
		cmocka_unit_test(a_visit_may_map_while_its_group_is_to_be_destroyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
