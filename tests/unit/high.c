/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "kmem/heap.h"
#include "reclaim/delay.h"
#include "reclaim/high.h"
#include "reclaim/pressure.h"
#include "umemcg.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

static struct umemcg *create(struct umemcg *parent, const char *name)
{
	struct umemcg *group;

	assert_int_equal(umemcg_create(parent, name, &group), 0);
	return group;
}

static void destroy(struct umemcg *group)
{
	assert_int_equal(umemcg_destroy(group), 0);
}

static void charge(struct umemcg *group, uint64_t nr_bytes)
{
	assert_int_equal(umemcg_try_charge(group, nr_bytes), 0);
}

/* Of a line in memory.events or its like; UINT64_MAX without one. */
static uint64_t event(struct umemcg *group, const char *file, const char *name)
{
	char text[512], *line;

	umemcg_read(group, file, text, sizeof(text));
	line = strstr(text, name);
	return line ? strtoull(line + strlen(name), NULL, 10) : UINT64_MAX;
}

static void below_high_nothing_is_waited_for(void **state)
{
	struct umemcg *group = create(NULL, "below"), *old = umemcg_enter(group);

	(void)state;
	assert_int_equal(umemcg_throttle(), 0);
	assert_int_equal(umemcg_set_high(group, 4 * MIB), 0);
	charge(group, 3 * MIB);
	assert_int_equal(umemcg_throttle(), 0);
	assert_int_equal(event(group, "memory.events", "high "), 0);
	umemcg_uncharge(group, 3 * MIB);
	umemcg_enter(old);
	destroy(group);
}

/* What is charged below high counts for nothing, and what is above is waited for once. */
static void above_high_the_wait_is_that_of_the_curve(void **state)
{
	struct umemcg *top = create(NULL, "top"), *group = create(top, "group");
	struct umemcg *old = umemcg_enter(group);
	uint64_t over, least_us, us;

	(void)state;
	assert_int_equal(umemcg_set_high(top, 4 * MIB), 0);
	charge(group, 4 * MIB - 256 * KIB);
	charge(group, 512 * KIB);
	over = umemcg_get_current(top) - 4 * MIB;
	least_us = delay_us(delay_overage(over, 4 * MIB), 512 * KIB);
	assert_true(least_us > 50000 && least_us < DELAY_MAX_US);
	errno = 4711;
	us = umemcg_throttle();
	assert_int_equal(errno, 4711);
	assert_true(us >= least_us);
	assert_int_equal(event(top, "memory.events.local", "high "), 1);
	assert_int_equal(event(group, "memory.events", "high "), 0);
	/* It was stalled meanwhile. */
	assert_true(event(group, "memory.pressure", "total=") >= least_us);
	assert_int_equal(umemcg_throttle(), 0);
	umemcg_uncharge(group, 4 * MIB + 256 * KIB);
	umemcg_enter(old);
	destroy(group);
	destroy(top);
}

static void short_waits_add_up(void **state)
{
	struct umemcg *group = create(NULL, "short"), *old = umemcg_enter(group);
	uint64_t us = 0, charged = 0;

	(void)state;
	assert_int_equal(umemcg_set_high(group, 64 * MIB), 0);
	charge(group, 64 * MIB + 640 * KIB);
	/* Too short an instant yet, some 6 ms for a batch, of which this is a 60th part each. */
	thread_flight()->nr_over_high = 0;
	while (!us && charged < 256 * KIB) {
		charge(group, 4 * KIB);
		charged += 4 * KIB;
		us = umemcg_throttle();
	}
	assert_true(us >= 1000);
	umemcg_uncharge(group, 64 * MIB + 640 * KIB + charged);
	umemcg_enter(old);
	destroy(group);
}

static void an_allocation_waits_only_for_a_good_deal(void **state)
{
	struct umemcg *group = create(NULL, "allocation"), *old = umemcg_enter(group);

	(void)state;
	assert_int_equal(umemcg_set_high(group, 64 * KIB), 0);
	charge(group, 64 * KIB);
	thread_flight()->nr_over_high = 1;
	assert_int_equal(high_throttle(thread_flight(), group, true), 0);
	assert_int_equal(event(group, "memory.events", "high "), 0);
	charge(group, 96 * KIB);
	assert_int_equal(umemcg_set_high(group, umemcg_get_current(group) / 20 * 19), 0);
	assert_true(high_throttle(thread_flight(), group, true) > 0);
	umemcg_uncharge(group, 160 * KIB);
	umemcg_enter(old);
	destroy(group);
}

static void a_thread_leaves_what_it_owes_in_the_group(void **state)
{
	struct umemcg *group = create(NULL, "owes"), *other = create(NULL, "other");
	struct umemcg *old = umemcg_enter(group);

	(void)state;
	assert_int_equal(umemcg_set_high(group, 64 * KIB), 0);
	charge(group, MIB);
	umemcg_enter(other);
	assert_int_equal(umemcg_throttle(), 0);
	umemcg_enter(group);
	assert_int_equal(umemcg_throttle(), 0);
	umemcg_uncharge(group, MIB);
	umemcg_enter(old);
	destroy(other);
	destroy(group);
}

/* A cache of bytes that are charged explicitly. */
static _Atomic uint64_t nr_cached;

static uint64_t count_cache(struct umemcg *group, void *arg)
{
	return group == arg ? nr_cached : 0;
}

static uint64_t shrink_cache(struct umemcg *group, uint64_t nr_bytes, void *arg)
{
	if (group != arg)
		return 0;
	nr_bytes = nr_bytes < nr_cached ? nr_bytes : nr_cached;
	nr_cached -= nr_bytes;
	umemcg_uncharge(group, nr_bytes);
	errno = ENOTTY;
	/* Whoever reclaims is not delayed in turn. */
	assert_int_equal(umemcg_throttle(), 0);
	return nr_bytes;
}

static void what_can_be_reclaimed_is_not_waited_for(void **state)
{
	static const struct umemcg_shrinker_ops ops = { .count = count_cache,
							.scan = shrink_cache };
	struct umemcg *group = create(NULL, "cache"), *old = umemcg_enter(group);
	struct umemcg_shrinker *shrinker;

	(void)state;
	/* Beyond what a busy machine takes. */
	umemcg_set_reclaim_timeout(60000000);
	assert_int_equal(umemcg_shrinker_register(NULL, &ops, group, 0, &shrinker), 0);
	assert_int_equal(umemcg_set_high(group, 4 * MIB), 0);
	charge(group, 8 * MIB);
	nr_cached = 6 * MIB;
	errno = 4711;
	assert_int_equal(umemcg_throttle(), 0);
	assert_int_equal(errno, 4711);
	assert_true(umemcg_get_current(group) <= 4 * MIB);
	/* No more than that was taken. */
	assert_in_range(nr_cached, MIB, 3 * MIB);
	assert_int_equal(event(group, "memory.events", "high "), 1);
	umemcg_shrinker_unregister(shrinker);
	umemcg_uncharge(group, 2 * MIB + nr_cached);
	umemcg_enter(old);
	destroy(group);
}

/* ---- waits that end early ---- */

/* One thread that would wait for two seconds, again and again if it must. */
struct sleeper {
	struct umemcg *group;
	bool is_in;           /* the group */
	_Atomic bool is_past; /* its first wait, of so long */
	uint64_t us;
	pthread_t thread;
};

static void *be_sleeper(void *arg)
{
	struct sleeper *sleeper = arg;

	if (sleeper->is_in)
		umemcg_enter(sleeper->group);
	if (umemcg_try_charge(sleeper->group, 8 * MIB))
		abort();
	sleeper->us = high_throttle(thread_flight(), sleeper->group, false);
	sleeper->is_past = true;
	umemcg_enter(NULL);
	return NULL;
}

static uint64_t stalled_ns(struct umemcg *group)
{
	struct average average;

	pressure_read(group, &average);
	return average.total_ns[AVERAGE_SOME];
}

static void sleep_ms(unsigned int nr_ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = nr_ms * 1000000l }, NULL);
}

/* Until it waits. */
static void start(struct sleeper *sleeper, struct umemcg *group)
{
	uint64_t before_ns = stalled_ns(group);

	*sleeper = (struct sleeper){ .group = group, .is_in = true };
	assert_int_equal(umemcg_set_high(group, MIB), 0);
	assert_int_equal(pthread_create(&sleeper->thread, NULL, be_sleeper, sleeper), 0);
	while (stalled_ns(group) == before_ns)
		sleep_ms(1);
}

static void finish_early(struct sleeper *sleeper)
{
	pthread_join(sleeper->thread, NULL);
	assert_in_range(sleeper->us, 0, DELAY_MAX_US - 1);
	umemcg_uncharge(sleeper->group, 8 * MIB);
}

static void usage_that_falls_ends_the_wait(void **state)
{
	struct umemcg *group = create(NULL, "falls");
	struct sleeper sleeper;

	(void)state;
	start(&sleeper, group);
	umemcg_uncharge(group, 8 * MIB);
	pthread_join(sleeper.thread, NULL);
	assert_in_range(sleeper.us, 0, DELAY_MAX_US - 1);
	destroy(group);
}

static void a_new_high_ends_the_wait(void **state)
{
	struct umemcg *group = create(NULL, "raised");
	struct sleeper sleeper;

	(void)state;
	start(&sleeper, group);
	assert_int_equal(umemcg_set_high(group, UMEMCG_MAX), 0);
	finish_early(&sleeper);
	destroy(group);
}

static void a_cancel_ends_all_waits_below_but_none_beside(void **state)
{
	struct umemcg *top = create(NULL, "top"), *group = create(top, "group");
	struct umemcg *other = create(top, "other");
	struct sleeper sleeper;

	(void)state;
	start(&sleeper, group);
	umemcg_throttle_cancel(other);
	sleep_ms(30);
	assert_false(sleeper.is_past);
	umemcg_throttle_cancel(top);
	finish_early(&sleeper);
	start(&sleeper, group);
	umemcg_throttle_cancel(NULL);
	finish_early(&sleeper);
	destroy(other);
	destroy(group);
	destroy(top);
}

static void ignore(int signal)
{
	(void)signal;
}

static void a_signals_handler_ends_the_wait(void **state)
{
	struct sigaction action = { .sa_handler = ignore, .sa_flags = SA_RESTART }, old;
	struct umemcg *group = create(NULL, "signal");
	struct sleeper sleeper;

	(void)state;
	sigaction(SIGUSR1, &action, &old);
	start(&sleeper, group);
	/* One may come between two slices. */
	while (!sleeper.is_past) {
		pthread_kill(sleeper.thread, SIGUSR1);
		sleep_ms(1);
	}
	finish_early(&sleeper);
	sigaction(SIGUSR1, &old, NULL);
	destroy(group);
}

static void a_group_that_is_destroyed_holds_up_nobody(void **state)
{
	struct umemcg *top = create(NULL, "top"), *group = create(top, "group");
	struct sleeper sleeper = { .group = group };

	(void)state;
	assert_int_equal(umemcg_set_high(top, MIB), 0);
	assert_int_equal(pthread_create(&sleeper.thread, NULL, be_sleeper, &sleeper), 0);
	while (!stalled_ns(group))
		sleep_ms(1);
	destroy(group);
	pthread_join(sleeper.thread, NULL);
	assert_in_range(sleeper.us, 0, DELAY_MAX_US - 1);
	umemcg_uncharge(top, 8 * MIB);
	destroy(top);
}

/* ---- what ends a wait before it has begun ---- */

static uint64_t cancel_the_wait(struct umemcg *group, void *arg)
{
	(void)arg;
	umemcg_throttle_cancel(group);
	return 0;
}

static uint64_t destroy_the_group(struct umemcg *group, void *arg)
{
	if (group == arg)
		destroy(group);
	return 0;
}

static uint64_t give_nothing(struct umemcg *group, uint64_t nr_bytes, void *arg)
{
	(void)group;
	(void)nr_bytes;
	(void)arg;
	return 0;
}

static void a_cancel_while_it_reclaims_ends_the_wait(void **state)
{
	static const struct umemcg_shrinker_ops ops = { .count = cancel_the_wait,
							.scan = give_nothing };
	struct umemcg *group = create(NULL, "group"), *old = umemcg_enter(group);
	struct umemcg_shrinker *shrinker;

	(void)state;
	assert_int_equal(umemcg_shrinker_register(group, &ops, NULL, 0, &shrinker), 0);
	assert_int_equal(umemcg_set_high(group, MIB), 0);
	charge(group, 8 * MIB);
	assert_in_range(umemcg_throttle(), 0, DELAY_MAX_US - 1);
	umemcg_shrinker_unregister(shrinker);
	umemcg_uncharge(group, 8 * MIB);
	umemcg_enter(old);
	destroy(group);
}

static void a_group_that_is_destroyed_while_it_reclaims_holds_up_nobody(void **state)
{
	static const struct umemcg_shrinker_ops ops = { .count = destroy_the_group,
							.scan = give_nothing };
	struct umemcg *top = create(NULL, "top"), *group = create(top, "group");
	struct umemcg_shrinker *shrinker;

	(void)state;
	assert_int_equal(umemcg_shrinker_register(group, &ops, group, 0, &shrinker), 0);
	assert_int_equal(umemcg_set_high(top, MIB), 0);
	charge(group, 8 * MIB);
	assert_in_range(high_throttle(thread_flight(), group, false), 0, DELAY_MAX_US - 1);
	umemcg_shrinker_unregister(shrinker);
	umemcg_uncharge(top, 8 * MIB);
	destroy(top);
}

static void the_wait_is_no_cancellation_point(void **state)
{
	struct umemcg *group = create(NULL, "cancelled");
	struct sleeper sleeper;
	void *result;

	(void)state;
	start(&sleeper, group);
	pthread_cancel(sleeper.thread);
	sleep_ms(30);
	umemcg_throttle_cancel(group);
	pthread_join(sleeper.thread, &result);
	assert_null(result);
	umemcg_uncharge(group, 8 * MIB);
	destroy(group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(below_high_nothing_is_waited_for),
		cmocka_unit_test(above_high_the_wait_is_that_of_the_curve),
		cmocka_unit_test(short_waits_add_up),
		cmocka_unit_test(an_allocation_waits_only_for_a_good_deal),
		cmocka_unit_test(a_thread_leaves_what_it_owes_in_the_group),
		cmocka_unit_test(what_can_be_reclaimed_is_not_waited_for),
		cmocka_unit_test(usage_that_falls_ends_the_wait),
		cmocka_unit_test(a_new_high_ends_the_wait),
		cmocka_unit_test(a_cancel_ends_all_waits_below_but_none_beside),
		cmocka_unit_test(a_signals_handler_ends_the_wait),
		cmocka_unit_test(a_group_that_is_destroyed_holds_up_nobody),
		cmocka_unit_test(a_cancel_while_it_reclaims_ends_the_wait),
		cmocka_unit_test(a_group_that_is_destroyed_while_it_reclaims_holds_up_nobody),
		cmocka_unit_test(the_wait_is_no_cancellation_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
