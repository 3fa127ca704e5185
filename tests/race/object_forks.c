/* SPDX-License-Identifier: MIT */
/*
 * Objects are allocated, resized, recharged and freed beside a thread that forks: a child finds
 * each of them charged and there, or neither.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "umemcg.h"

#define NR_WORKERS 4
#define NR_FORKS   200
#define BYTES      100000

#define NR_SMALL_FORKS 1500
#define SMALL_BYTES    1000
#define SMALL_CHARGED  1024

static struct umemcg *groups[2];
static _Atomic bool forks_are_done;
static pthread_mutex_t freeing = PTHREAD_MUTEX_INITIALIZER;

static void must(bool is_true)
{
	if (!is_true)
		abort();
}

/* One step at a time, so that every one of them is often what a fork interrupts. */
static void *work(void *arg)
{
	unsigned int seed = (uintptr_t)arg;
	void *object = NULL;

	umemcg_enter(groups[seed % 2]);
	while (!atomic_load(&forks_are_done)) {
		if (!object)
			object = umemcg_malloc(BYTES);
		must(object != NULL);
		switch (rand_r(&seed) % 4) {
		case 0:
			object = umemcg_realloc(object, BYTES * (1 + rand_r(&seed) % 5));
			break;
		case 1:
			must(!umemcg_recharge(object, groups[rand_r(&seed) % 2]));
			break;
		default:
			umemcg_free(object);
			object = NULL;
		}
	}
	umemcg_free(object);
	umemcg_enter(NULL);
	return NULL;
}

/* What nobody holds any more is not there, either. */
static void *free_all(void *arg)
{
	while (!atomic_load(&forks_are_done)) {
		struct umemcg *group;

		must(!umemcg_create(NULL, NULL, &group));
		for (unsigned int i = 0; i < 3; i++)
			must(umemcg_malloc_in(group, BYTES) != NULL);
		must(!umemcg_free_all(group));
		must(!umemcg_destroy(group));
	}
	return arg;
}

enum finding { BALANCED, ONE_STAYS_CHARGED, WRONG };

static enum finding find_in_child(void)
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		struct umemcg_audit report;

		if (!umemcg_audit(&report))
			_exit(BALANCED);
		_exit(report.nr_bytes_charged == report.nr_bytes_walked + SMALL_CHARGED
			      ? ONE_STAYS_CHARGED
			      : WRONG);
	}
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return WRONG;
	return WEXITSTATUS(status);
}

/* Lists of a class that has few of them at a time are often of one. */
static void *work_small(void *arg)
{
	umemcg_enter(groups[0]);
	while (!atomic_load(&forks_are_done)) {
		void *objects[2] = { umemcg_malloc_in(groups[1], SMALL_BYTES),
				     umemcg_malloc(SMALL_BYTES) };

		pthread_mutex_lock(&freeing);
		for (unsigned int i = 0; i < 2; i++) {
			must(objects[i] != NULL);
			umemcg_free(objects[i]);
		}
		pthread_mutex_unlock(&freeing);
	}
	umemcg_enter(NULL);
	return arg;
}

/* The worst that any child finds. */
static enum finding fork_beside_small_objects(bool meets_frees)
{
	enum finding worst = BALANCED;
	pthread_t worker;

	atomic_store(&forks_are_done, false);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(umemcg_create(NULL, NULL, &groups[i]), 0);
	assert_int_equal(pthread_create(&worker, NULL, work_small, NULL), 0);
	for (unsigned int i = 0; i < NR_SMALL_FORKS; i++) {
		enum finding finding;

		if (!meets_frees)
			pthread_mutex_lock(&freeing);
		finding = find_in_child();
		if (!meets_frees)
			pthread_mutex_unlock(&freeing);
		worst = finding > worst ? finding : worst;
	}
	atomic_store(&forks_are_done, true);
	pthread_join(worker, NULL);
	for (unsigned int i = 0; i < 2; i++) {
		umemcg_drain(groups[i]);
		assert_int_equal(umemcg_get_current(groups[i]), 0);
		assert_int_equal(umemcg_destroy(groups[i]), 0);
	}
	return worst;
}

static void a_child_finds_new_small_objects_charged_and_there_or_neither(void **state)
{
	(void)state;
	assert_int_equal(fork_beside_small_objects(false), BALANCED);
}

static void of_each_thread_one_that_was_being_freed_may_stay_charged(void **state)
{
	(void)state;
	assert_in_range(fork_beside_small_objects(true), BALANCED, ONE_STAYS_CHARGED);
}

static void a_child_finds_large_objects_charged_and_there_or_neither(void **state)
{
	pthread_t workers[NR_WORKERS + 1];
	struct umemcg_audit report;
	unsigned int nr_bad = 0;

	(void)state;
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(umemcg_create(NULL, NULL, &groups[i]), 0);
	for (uintptr_t i = 0; i < NR_WORKERS; i++)
		assert_int_equal(pthread_create(&workers[i], NULL, work, (void *)(i + 1)), 0);
	assert_int_equal(pthread_create(&workers[NR_WORKERS], NULL, free_all, NULL), 0);
	for (unsigned int i = 0; i < NR_FORKS; i++)
		nr_bad += find_in_child() != BALANCED;
	atomic_store(&forks_are_done, true);
	for (unsigned int i = 0; i <= NR_WORKERS; i++)
		pthread_join(workers[i], NULL);
	assert_int_equal(nr_bad, 0);
	assert_int_equal(umemcg_audit(&report), 0);
	for (unsigned int i = 0; i < 2; i++) {
		umemcg_drain(groups[i]);
		assert_int_equal(umemcg_get_current(groups[i]), 0);
		assert_int_equal(umemcg_destroy(groups[i]), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_finds_large_objects_charged_and_there_or_neither),
		cmocka_unit_test(a_child_finds_new_small_objects_charged_and_there_or_neither),
		cmocka_unit_test(of_each_thread_one_that_was_being_freed_may_stay_charged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
