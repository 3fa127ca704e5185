/* SPDX-License-Identifier: MIT */
/* Threads that stall and wait in groups which others destroy, cancel, read and subscribe to. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "kmem/heap.h"
#include "reclaim/high.h"
#include "reclaim/pressure.h"
#include "umemcg.h"

#define NR_THREADS 4u
#define NR_ROUNDS  2000u
#define KIB        ((uint64_t)1 << 10)

static _Atomic bool is_over;
static struct umemcg *top, *parents[2];
/* Owners outlive their groups here: each has a byte charged until the end. */
static _Atomic uint32_t owners[NR_THREADS];

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 16;
}

static void *stall(void *arg)
{
	uint32_t seed = (uint32_t)(uintptr_t)arg;

	umemcg_enter(top);
	umemcg_free(umemcg_malloc(1));
	for (unsigned int i = 0; i < NR_ROUNDS; i++) {
		uint32_t owner = owners[next(&seed) % NR_THREADS];

		pressure_begin(owner);
		if (next(&seed) % 4 == 0) {
			pressure_begin(owners[next(&seed) % NR_THREADS]);
			pressure_look();
			pressure_end(owner);
		}
		if (next(&seed) % 16 == 0)
			sched_yield();
		pressure_end(owner);
	}
	umemcg_enter(NULL);
	return NULL;
}

static void make_anew(struct umemcg **group, unsigned int i, uint32_t *seed)
{
	if (*group && umemcg_destroy(*group))
		abort();
	if (umemcg_create(parents[next(seed) % 2], NULL, group) || umemcg_try_charge(*group, 1))
		abort();
	owners[i] = (*group)->owner;
}

static void *destroy_and_make(void *arg)
{
	struct umemcg **groups = arg;
	uint32_t seed = 99;

	while (!is_over)
		for (unsigned int i = 0; i < NR_THREADS; i++)
			make_anew(&groups[i], i, &seed);
	return NULL;
}

static void *subscribe_and_read(void *arg)
{
	char text[256];
	int fds[2];

	(void)arg;
	while (!is_over) {
		if (umemcg_pressure_subscribe(top, "some 1 500000", &fds[0]) ||
		    umemcg_pressure_subscribe(NULL, "full 1000 500000", &fds[1]))
			abort();
		umemcg_read(top, "memory.pressure", text, sizeof(text));
		if (umemcg_pressure_unsubscribe(fds[1]) || umemcg_pressure_unsubscribe(fds[0]))
			abort();
	}
	return NULL;
}

static uint64_t total_ns(struct umemcg *group)
{
	struct average average;

	pressure_read(group, &average);
	return average.total_ns[AVERAGE_SOME];
}

/* Whoever still counted as stalled would count on. */
static void nobody_is_stalled(struct umemcg *group)
{
	uint64_t before_ns = total_ns(group);

	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	assert_int_equal(total_ns(group), before_ns);
}

static void every_stall_that_began_has_ended(void **state)
{
	struct umemcg *groups[NR_THREADS] = { NULL };
	pthread_t threads[NR_THREADS], others[2];
	uint32_t seed = 7;

	(void)state;
	is_over = false;
	assert_int_equal(umemcg_create(NULL, "stalls", &top), 0);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(umemcg_create(top, NULL, &parents[i]), 0);
	for (unsigned int i = 0; i < NR_THREADS; i++)
		make_anew(&groups[i], i, &seed);
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, stall, (void *)(i + 1)), 0);
	assert_int_equal(pthread_create(&others[0], NULL, destroy_and_make, groups), 0);
	assert_int_equal(pthread_create(&others[1], NULL, subscribe_and_read, NULL), 0);
	for (unsigned int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	is_over = true;
	pthread_join(others[0], NULL);
	pthread_join(others[1], NULL);
	assert_true(total_ns(top) > 0);
	for (unsigned int i = 0; i < 2; i++)
		nobody_is_stalled(parents[i]);
	nobody_is_stalled(top);
	nobody_is_stalled(umemcg_root());
	for (unsigned int i = 0; i < NR_THREADS; i++)
		assert_int_equal(umemcg_destroy(groups[i]), 0);
	for (unsigned int i = 0; i < 2; i++) {
		umemcg_uncharge(parents[i], umemcg_get_current(parents[i]));
		assert_int_equal(umemcg_destroy(parents[i]), 0);
	}
	umemcg_uncharge(top, umemcg_get_current(top));
	assert_int_equal(umemcg_destroy(top), 0);
}

/* ---- waits ---- */

static _Atomic unsigned int nr_waits;

/* Above high for ever, so each wait that nobody ends is two seconds long. */
static void *wait_again_and_again(void *arg)
{
	(void)arg;
	umemcg_enter(top);
	while (!is_over) {
		if (umemcg_try_charge(top, 256 * KIB))
			abort();
		nr_waits += umemcg_throttle() > 0;
		umemcg_uncharge(top, 256 * KIB);
	}
	umemcg_enter(NULL);
	return NULL;
}

static void *change_high(void *arg)
{
	struct umemcg *group = NULL;

	(void)arg;
	while (!is_over) {
		/* A group below that comes and goes is nobody's. */
		if (umemcg_create(top, NULL, &group) || umemcg_set_high(group, 1) ||
		    umemcg_destroy(group))
			abort();
		sched_yield();
	}
	return NULL;
}

/* Many more waits than would end by themselves within the test's time. */
static void each_wait_is_ended_by_who_cancels_it(void **state)
{
	pthread_t threads[NR_THREADS], other;

	(void)state;
	is_over = false;
	assert_int_equal(umemcg_create(NULL, "waits", &top), 0);
	assert_int_equal(umemcg_set_high(top, 64 * KIB), 0);
	assert_int_equal(umemcg_try_charge(top, 256 * KIB), 0);
	for (unsigned int i = 0; i < NR_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_again_and_again, NULL), 0);
	assert_int_equal(pthread_create(&other, NULL, change_high, NULL), 0);
	while (nr_waits < 500) {
		umemcg_throttle_cancel(nr_waits % 2 ? top : NULL);
		sched_yield();
	}
	is_over = true;
	pthread_join(other, NULL);
	umemcg_set_high(top, UMEMCG_MAX);
	for (unsigned int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	nobody_is_stalled(top);
	umemcg_uncharge(top, 256 * KIB);
	assert_int_equal(umemcg_destroy(top), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_stall_that_began_has_ended),
		cmocka_unit_test(each_wait_is_ended_by_who_cancels_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
