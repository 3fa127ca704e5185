/* SPDX-License-Identifier: MIT */
/*
 * OOM policies that change under the hands of threads that are at the limit: who has replaced a
 * callback, or destroyed its group, may free what it used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "umemcg.h"

#define NR_CHARGERS 4
#define NR_POLICIES 300
#define NR_GROUPS   100
#define NR_TAKEN    2000
#define MIB         ((uint64_t)1 << 20)
#define ALIVE       0x600df00du
#define GONE        0xdeadu

/* For threads as well, in which cmocka's assertions may not fail. */
#define check(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static struct umemcg *group;
static atomic_bool is_over;

static int create_group(void **state)
{
	(void)state;
	atomic_store(&is_over, false);
	return umemcg_create(NULL, "full", &group) || umemcg_set_max(group, MIB);
}

static int destroy_group(void **state)
{
	(void)state;
	return umemcg_destroy(group);
}

/* What a callback uses, and whoever replaces it frees. */
struct context {
	unsigned int magic;
	_Atomic unsigned int nr_calls;
};

static struct context *make_context(void)
{
	struct context *context = malloc(sizeof(*context));

	check(context);
	*context = (struct context){ .magic = ALIVE };
	return context;
}

static void free_context(struct context *context)
{
	context->magic = GONE;
	free(context);
}

static bool use_context(struct umemcg *full, const struct umemcg_failure *failure, void *arg)
{
	struct context *context = arg;

	(void)full;
	check(failure->nr_bytes_max == MIB);
	check(context->magic == ALIVE);
	/* Time for others to free it, if they were let. */
	sched_yield();
	check(context->magic == ALIVE);
	return atomic_fetch_add(&context->nr_calls, 1) % 2;
}

static void *charge_too_much(void *arg)
{
	(void)arg;
	while (!atomic_load(&is_over))
		check(umemcg_try_charge(group, 2 * MIB) == -ENOMEM);
	return NULL;
}

static void what_a_replaced_callback_used_may_be_freed(void **state)
{
	pthread_t chargers[NR_CHARGERS];
	unsigned int nr_calls = 0;

	(void)state;
	for (unsigned int i = 0; i < NR_CHARGERS; i++)
		assert_int_equal(pthread_create(&chargers[i], NULL, charge_too_much, NULL), 0);
	for (unsigned int i = 0; i < NR_POLICIES; i++) {
		struct context *context = make_context();

		assert_int_equal(
			umemcg_set_oom_policy(group, UMEMCG_OOM_CALLBACK, use_context, context), 0);
		while (i % 3 == 0 && !atomic_load(&context->nr_calls))
			;
		assert_int_equal(umemcg_set_oom_policy(group, UMEMCG_OOM_FAIL, NULL, NULL), 0);
		nr_calls += atomic_load(&context->nr_calls);
		free_context(context);
	}
	atomic_store(&is_over, true);
	for (unsigned int i = 0; i < NR_CHARGERS; i++)
		assert_int_equal(pthread_join(chargers[i], NULL), 0);
	assert_true(nr_calls >= NR_POLICIES / 3);
}

static void *charge_once(void *arg)
{
	check(umemcg_try_charge(arg, 2 * MIB) == -ENOMEM);
	return NULL;
}

static void what_the_callback_of_a_destroyed_group_used_may_be_freed(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		struct context *context = make_context();
		struct umemcg *child;
		pthread_t charger;

		assert_int_equal(umemcg_create(group, NULL, &child), 0);
		assert_int_equal(umemcg_set_max(child, MIB), 0);
		assert_int_equal(
			umemcg_set_oom_policy(child, UMEMCG_OOM_CALLBACK, use_context, context), 0);
		assert_int_equal(pthread_create(&charger, NULL, charge_once, child), 0);
		while (!atomic_load(&context->nr_calls))
			;
		assert_int_equal(pthread_join(charger, NULL), 0);
		assert_int_equal(umemcg_destroy(child), 0);
		free_context(context);
	}
}

/* A cache that all threads share: the callback of whoever finds the group full empties it. */
static _Atomic uint64_t nr_cached;

static bool empty_cache(struct umemcg *full, const struct umemcg_failure *failure, void *arg)
{
	uint64_t nr_bytes = atomic_exchange(&nr_cached, 0);

	(void)failure;
	(void)arg;
	umemcg_uncharge(full, nr_bytes);
	return nr_bytes > 0;
}

static void *fill_cache(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < NR_TAKEN; i++)
		if (!umemcg_try_charge(group, MIB / 16))
			atomic_fetch_add(&nr_cached, MIB / 16);
	return NULL;
}

static void callbacks_of_many_threads_keep_the_books(void **state)
{
	pthread_t fillers[NR_CHARGERS];

	(void)state;
	assert_int_equal(umemcg_set_oom_policy(group, UMEMCG_OOM_CALLBACK, empty_cache, NULL), 0);
	for (unsigned int i = 0; i < NR_CHARGERS; i++)
		assert_int_equal(pthread_create(&fillers[i], NULL, fill_cache, NULL), 0);
	for (unsigned int i = 0; i < NR_CHARGERS; i++)
		assert_int_equal(pthread_join(fillers[i], NULL), 0);
	assert_true(umemcg_get_peak(group) <= MIB);
	umemcg_drain(group);
	assert_int_equal(umemcg_get_current(group), atomic_load(&nr_cached));
	umemcg_uncharge(group, atomic_exchange(&nr_cached, 0));
	umemcg_drain(group);
	assert_int_equal(umemcg_get_current(group), 0);
}

#define test_in_group(name) cmocka_unit_test_setup_teardown(name, create_group, destroy_group)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_group(what_a_replaced_callback_used_may_be_freed),
		test_in_group(what_the_callback_of_a_destroyed_group_used_may_be_freed),
		test_in_group(callbacks_of_many_threads_keep_the_books),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
