/* SPDX-License-Identifier: MIT */
/*
 * Regions, stacks and threads come and go in groups that come and go, beside a thread that forks:
 * at the end, and in every child, the books are balanced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "umemcg.h"

#define NR_WORKERS 4
#define NR_FORKS   1000
#define NR_HELD    8

struct worker {
	pthread_t thread;
	unsigned int seed;
	void *regions[NR_HELD];
	void *stacks[NR_HELD];
};

static struct umemcg *top;
static _Atomic bool forks_are_done;

static void *do_nothing(void *arg)
{
	return arg;
}

static void replace_region(struct worker *worker, struct umemcg *group, unsigned int place)
{
	if (worker->regions[place] && umemcg_unmap(worker->regions[place]))
		abort();
	if (umemcg_map(group, 1 + rand_r(&worker->seed) % 20000, &worker->regions[place]))
		abort();
}

static void replace_stack(struct worker *worker, unsigned int place)
{
	umemcg_stack_free(worker->stacks[place]);
	if (umemcg_stack_alloc(64 << 10, &worker->stacks[place]))
		abort();
}

static void run_a_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	if (umemcg_thread_create(&thread, &attr, do_nothing, NULL))
		abort();
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
}

/* Each round has a group of its own, which dies with regions and stacks that later rounds free. */
static void *work(void *arg)
{
	struct worker *worker = arg;

	for (unsigned int round = 0; !atomic_load(&forks_are_done); round++) {
		struct umemcg *group;

		if (umemcg_create(top, NULL, &group))
			abort();
		umemcg_enter(group);
		replace_region(worker, group, round % NR_HELD);
		replace_region(worker, group, rand_r(&worker->seed) % NR_HELD);
		replace_stack(worker, rand_r(&worker->seed) % NR_HELD);
		if (round % 4 == 0)
			run_a_thread();
		umemcg_enter(NULL);
		if (umemcg_destroy(group))
			abort();
	}
	for (unsigned int i = 0; i < NR_HELD; i++) {
		if (worker->regions[i] && umemcg_unmap(worker->regions[i]))
			abort();
		umemcg_stack_free(worker->stacks[i]);
	}
	return NULL;
}

/* In the child nobody else runs any more: whatever is charged must be there. */
static int audit_in_child(void)
{
	struct umemcg_audit report;

	return umemcg_audit(&report) ? 1 : 0;
}

static void *fork_again_and_again(void *arg)
{
	unsigned int *nr_bad = arg;

	for (int i = 0; i < NR_FORKS; i++) {
		pid_t child = fork();
		int status = -1;

		if (!child)
			_exit(audit_in_child());
		if (waitpid(child, &status, 0) != child || status)
			++*nr_bad;
	}
	atomic_store(&forks_are_done, true);
	return NULL;
}

static void nothing_drifts_while_groups_die_and_processes_fork(void **state)
{
	struct worker workers[NR_WORKERS] = { 0 };
	struct umemcg_audit report;
	unsigned int nr_bad = 0;
	pthread_t forker;

	(void)state;
	assert_int_equal(umemcg_create(NULL, NULL, &top), 0);
	for (unsigned int i = 0; i < NR_WORKERS; i++) {
		workers[i].seed = i + 1;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	assert_int_equal(pthread_create(&forker, NULL, fork_again_and_again, &nr_bad), 0);
	pthread_join(forker, NULL);
	for (unsigned int i = 0; i < NR_WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	assert_int_equal(nr_bad, 0);
	assert_int_equal(umemcg_audit(&report), 0);
	umemcg_drain(top);
	assert_int_equal(umemcg_get_current(top), 0);
	assert_int_equal(umemcg_destroy(top), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_drifts_while_groups_die_and_processes_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
