/* SPDX-License-Identifier: MIT */
/* Shrinkers: what their callbacks may do, and what they cannot do to whoever is short of memory. */
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
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "umemcg.h"

#define KIB     ((uint64_t)1 << 10)
#define MAX     (1024 * KIB)
#define RESERVE (64 * KIB)

/* Long enough for a machine that is busy. */
#define TIMEOUT_US ((uint64_t)300000)

static struct umemcg *group;
static struct umemcg_shrinker *shrinker;
static uint64_t nr_held; /* explicit charges of the group that the shrinker can give back */
static unsigned int nr_calls;

/* What the callback does besides. */
static void (*act)(struct umemcg *of);

static uint64_t count(struct umemcg *of, void *arg)
{
	(void)arg;
	return of == group ? nr_held : 0;
}

static uint64_t scan(struct umemcg *of, uint64_t nr_bytes, void *arg)
{
	uint64_t nr_given = nr_bytes < nr_held ? nr_bytes : nr_held;

	(void)arg;
	nr_calls++;
	nr_held -= nr_given;
	umemcg_uncharge(of, nr_given);
	if (act)
		act(of);
	return nr_given;
}

static const struct umemcg_shrinker_ops ops = { .count = count, .scan = scan };

static int begin(void **state)
{
	(void)state;
	act = NULL;
	nr_held = nr_calls = 0;
	shrinker = NULL;
	/* Beyond what a busy machine takes. */
	umemcg_set_reclaim_timeout(60000000);
	return umemcg_create(NULL, NULL, &group) || umemcg_set_max(group, MAX);
}

static int end(void **state)
{
	(void)state;
	umemcg_shrinker_unregister(shrinker);
	if (!group)
		return 0;
	umemcg_uncharge(group, nr_held);
	umemcg_drain(group);
	return umemcg_get_current(group) ? -1 : umemcg_destroy(group);
}

static void fill(uint64_t nr_bytes)
{
	assert_int_equal(umemcg_try_charge(group, nr_bytes), 0);
	nr_held += nr_bytes;
}

static void use(unsigned int flags)
{
	assert_int_equal(umemcg_shrinker_register(group, &ops, NULL, flags, &shrinker), 0);
}

static void what_is_no_shrinker_is_refused(void **state)
{
	const struct umemcg_shrinker_ops none = { 0 };
	struct umemcg_shrinker *untouched = (void *)1;

	(void)state;
	assert_int_equal(umemcg_shrinker_register(group, NULL, NULL, 0, &untouched), -EINVAL);
	assert_int_equal(umemcg_shrinker_register(group, &none, NULL, 0, &untouched), -EINVAL);
	assert_int_equal(umemcg_shrinker_register(group, &ops, NULL, 2, &untouched), -EINVAL);
	assert_int_equal(umemcg_shrinker_register(group, &ops, NULL, 0, NULL), -EINVAL);
	assert_ptr_equal(untouched, (void *)1);
	umemcg_shrinker_unregister(NULL);
}

/* ---- what a callback may do ---- */

static void *kept;

static void allocate(struct umemcg *of)
{
	void *object = umemcg_malloc_in(of, 40 * KIB);

	/* From the reserve, when there is nothing else. */
	assert_true(umemcg_get_current(of) <= MAX);
	umemcg_free(object);
	if (!kept)
		kept = umemcg_malloc_in(of, 4000);
}

static void a_callback_may_allocate_and_free(void **state)
{
	(void)state;
	assert_int_equal(umemcg_set_reserve(group, RESERVE), 0);
	use(0);
	fill(MAX - RESERVE);
	act = allocate;
	assert_int_equal(umemcg_try_charge(group, 100 * KIB), 0);
	assert_true(nr_calls > 0);
	assert_non_null(kept);
	umemcg_free(kept);
	umemcg_uncharge(group, 100 * KIB);
}

static void charge_more(struct umemcg *of)
{
	unsigned int before = nr_calls;

	assert_int_equal(umemcg_try_charge(of, 2 * MAX), -ENOMEM);
	assert_int_equal(umemcg_try_charge(of, MAX), -ENOMEM);
	assert_int_equal(umemcg_reclaim(of, KIB), -EAGAIN);
	assert_int_equal(nr_calls, before);
}

static void what_a_callback_cannot_have_reclaims_nothing(void **state)
{
	(void)state;
	use(0);
	fill(MAX);
	act = charge_more;
	assert_int_equal(umemcg_try_charge(group, KIB), 0);
	assert_true(nr_calls > 0);
	umemcg_uncharge(group, KIB);
}

static void unregister(struct umemcg *of)
{
	(void)of;
	umemcg_shrinker_unregister(shrinker);
	shrinker = NULL;
}

static void a_callback_may_unregister_itself(void **state)
{
	(void)state;
	use(0);
	fill(MAX);
	act = unregister;
	assert_int_equal(umemcg_try_charge(group, KIB), 0);
	assert_int_equal(nr_calls, 1);
	umemcg_uncharge(group, KIB);
	umemcg_drain(group);
	fill(MAX - nr_held);
	assert_int_equal(umemcg_try_charge(group, KIB), -ENOMEM);
	assert_int_equal(nr_calls, 1);
}

static void destroy(struct umemcg *of)
{
	umemcg_uncharge(of, nr_held);
	nr_held = 0;
	umemcg_enter(NULL);
	assert_int_equal(umemcg_destroy(of), 0);
	group = NULL;
}

static void a_callback_may_destroy_its_own_group(void **state)
{
	struct umemcg *parent = group, *below;
	void *object;

	(void)state;
	assert_int_equal(umemcg_create(parent, NULL, &below), 0);
	assert_int_equal(umemcg_set_max(below, MAX / 2), 0);
	group = below;
	use(0);
	fill(MAX / 2);
	act = destroy;
	umemcg_enter(below);
	/* The thread is in the root then. */
	object = umemcg_malloc(100 * KIB);
	assert_non_null(object);
	assert_ptr_equal(umemcg_owner(object), umemcg_root());
	umemcg_free(object);
	assert_int_equal(nr_calls, 1);
	group = parent;
	act = NULL;
}

static void an_explicit_charge_to_a_group_that_is_gone_is_refused(void **state)
{
	struct umemcg *parent = group;

	(void)state;
	assert_int_equal(umemcg_create(parent, NULL, &group), 0);
	assert_int_equal(umemcg_set_max(group, MAX / 2), 0);
	use(0);
	fill(MAX / 2);
	act = destroy;
	assert_int_equal(umemcg_try_charge(group, 100 * KIB), -EINVAL);
	assert_int_equal(nr_calls, 1);
	group = parent;
	act = NULL;
}

static pid_t child;

static void fork_once(struct umemcg *of)
{
	(void)of;
	if (child < 0)
		child = fork();
}

static void a_callback_may_fork(void **state)
{
	struct umemcg_audit report;
	int status;

	(void)state;
	child = -1;
	use(0);
	fill(MAX);
	act = fork_once;
	assert_int_equal(umemcg_try_charge(group, KIB), 0);
	if (!child) {
		/* The child goes on: with the charge, and with the shrinker. */
		act = NULL;
		fill(nr_held ? 0 : KIB);
		while (nr_held < MAX - KIB && !umemcg_try_charge(group, KIB))
			nr_held += KIB;
		if (umemcg_try_charge(group, KIB) || umemcg_audit(&report))
			_exit(1);
		umemcg_shrinker_unregister(shrinker);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	umemcg_uncharge(group, KIB);
}

/* ---- callbacks that lie, or hang ---- */

static uint64_t lie(struct umemcg *of, uint64_t nr_bytes, void *arg)
{
	(void)of;
	(void)arg;
	nr_calls++;
	return nr_bytes;
}

static uint64_t count_much(struct umemcg *of, void *arg)
{
	(void)of;
	(void)arg;
	return UINT64_MAX;
}

static void a_callback_that_lies_is_not_believed(void **state)
{
	const struct umemcg_shrinker_ops lies = { .count = count_much, .scan = lie };

	(void)state;
	assert_int_equal(umemcg_shrinker_register(group, &lies, NULL, 0, &shrinker), 0);
	fill(MAX);
	assert_int_equal(umemcg_try_charge(group, KIB), -ENOMEM);
	assert_true(nr_calls > 0 && nr_calls < 64);
	assert_int_equal(umemcg_reclaim(group, KIB), -EAGAIN);
	assert_true(nr_calls < 128);
}

static void one_that_lies_does_not_hide_one_that_gives(void **state)
{
	const struct umemcg_shrinker_ops lies = { .count = count_much, .scan = lie };
	struct umemcg_shrinker *liar;

	(void)state;
	use(0);
	assert_int_equal(umemcg_shrinker_register(group, &lies, NULL, 0, &liar), 0);
	fill(MAX);
	for (unsigned int i = 0; i < 100; i++) {
		assert_int_equal(umemcg_try_charge(group, KIB), 0);
		nr_held += KIB;
	}
	umemcg_shrinker_unregister(liar);
}

static pthread_t caller;
static _Atomic bool may_return;

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void note_caller(struct umemcg *of)
{
	(void)of;
	caller = pthread_self();
}

static void one_that_wants_a_thread_gets_one(void **state)
{
	(void)state;
	use(UMEMCG_SHRINKER_THREAD);
	fill(MAX);
	act = note_caller;
	assert_int_equal(umemcg_try_charge(group, KIB), 0);
	assert_true(nr_calls > 0);
	assert_false(pthread_equal(caller, pthread_self()));
	umemcg_uncharge(group, KIB);
}

static void hang(struct umemcg *of)
{
	(void)of;
	while (!atomic_load(&may_return))
		usleep(1000);
}

static uint64_t hang_at_once(struct umemcg *of, uint64_t nr_bytes, void *arg)
{
	(void)nr_bytes;
	(void)arg;
	hang(of);
	return 0;
}

static void one_that_never_returns_delays_nobody_for_long(void **state)
{
	const struct umemcg_shrinker_ops hangs = { .count = count_much, .scan = hang_at_once };
	struct umemcg_shrinker *other;
	uint64_t start = now_us(), first, second;

	(void)state;
	atomic_store(&may_return, false);
	assert_int_equal(
		umemcg_shrinker_register(group, &hangs, NULL, UMEMCG_SHRINKER_THREAD, &shrinker),
		0);
	assert_int_equal(
		umemcg_shrinker_register(group, &hangs, NULL, UMEMCG_SHRINKER_THREAD, &other), 0);
	umemcg_set_reclaim_timeout(TIMEOUT_US);
	fill(MAX);
	assert_int_equal(umemcg_try_charge(group, KIB), -ENOMEM);
	first = now_us() - start;
	/* Nobody waits for it again, nor for others that want its thread. */
	start = now_us();
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(umemcg_try_charge(group, KIB), -ENOMEM);
	second = now_us() - start;
	atomic_store(&may_return, true);
	umemcg_shrinker_unregister(shrinker);
	umemcg_shrinker_unregister(other);
	assert_true(first >= TIMEOUT_US);
	/* It would be a thousand timeouts. */
	assert_true(second < 100 * TIMEOUT_US);
	/* Once it has returned its thread can be had again. */
	use(UMEMCG_SHRINKER_THREAD);
	umemcg_set_reclaim_timeout(60000000);
	assert_int_equal(umemcg_try_charge(group, KIB), 0);
	umemcg_uncharge(group, KIB);
}

/* ---- coming and going ---- */

static void what_a_destroyed_group_had_registered_is_its_parents(void **state)
{
	struct umemcg *below;

	(void)state;
	assert_int_equal(umemcg_create(group, NULL, &below), 0);
	assert_int_equal(umemcg_shrinker_register(below, &ops, NULL, 0, &shrinker), 0);
	fill(MAX);
	/* It covers nothing but the group below. */
	assert_int_equal(umemcg_try_charge(group, KIB), -ENOMEM);
	assert_int_equal(umemcg_destroy(below), 0);
	assert_int_equal(umemcg_try_charge(group, KIB), 0);
	umemcg_uncharge(group, KIB);
}

static void heirs_of_heirs_have_all_of_them(void **state)
{
	struct umemcg *parents[3] = { group };
	struct umemcg_shrinker *all[3];

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		if (i)
			assert_int_equal(umemcg_create(parents[i - 1], NULL, &parents[i]), 0);
		assert_int_equal(umemcg_shrinker_register(parents[i], &ops, NULL, 0, &all[i]), 0);
	}
	assert_int_equal(umemcg_destroy(parents[2]), 0);
	assert_int_equal(umemcg_destroy(parents[1]), 0);
	umemcg_shrinker_unregister(all[0]);
	umemcg_shrinker_unregister(all[1]);
	fill(MAX);
	assert_int_equal(umemcg_try_charge(group, KIB), 0);
	umemcg_uncharge(group, KIB);
	umemcg_drain(group);
	fill(MAX - nr_held);
	umemcg_shrinker_unregister(all[2]);
	assert_int_equal(umemcg_try_charge(group, KIB), -ENOMEM);
}

static void one_at_the_root_covers_every_group(void **state)
{
	(void)state;
	assert_int_equal(umemcg_shrinker_register(NULL, &ops, NULL, 0, &shrinker), 0);
	fill(MAX);
	assert_int_equal(umemcg_try_charge(group, KIB), 0);
	umemcg_uncharge(group, KIB);
}

static _Atomic bool is_inside, may_go;

static void wait_inside(struct umemcg *of)
{
	(void)of;
	atomic_store(&is_inside, true);
	while (!atomic_load(&may_go))
		usleep(100);
	usleep(1000);
	atomic_store(&is_inside, false);
}

static void *charge_once(void *arg)
{
	(void)arg;
	return umemcg_try_charge(group, KIB) ? NULL : group;
}

static void unregistering_waits_for_callbacks(void **state)
{
	pthread_t thread;
	void *result;

	(void)state;
	use(0);
	fill(MAX);
	act = wait_inside;
	assert_int_equal(pthread_create(&thread, NULL, charge_once, NULL), 0);
	while (!atomic_load(&is_inside))
		usleep(100);
	atomic_store(&may_go, true);
	umemcg_shrinker_unregister(shrinker);
	assert_false(atomic_load(&is_inside));
	shrinker = NULL;
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_non_null(result);
	umemcg_uncharge(group, KIB);
}

static uint64_t wait_and_give_nothing(struct umemcg *of, uint64_t nr_bytes, void *arg)
{
	(void)nr_bytes;
	(void)arg;
	wait_inside(of);
	return 0;
}

/* It would be a minute. */
static void who_waits_for_its_turn_leaves_with_who_gave_up(void **state)
{
	const struct umemcg_shrinker_ops hangs = { .count = count_much,
						   .scan = wait_and_give_nothing };
	pthread_t first, second;
	void *result;

	(void)state;
	assert_int_equal(
		umemcg_shrinker_register(group, &hangs, NULL, UMEMCG_SHRINKER_THREAD, &shrinker),
		0);
	fill(MAX);
	atomic_store(&may_go, false);
	atomic_store(&is_inside, false);
	umemcg_set_reclaim_timeout(TIMEOUT_US);
	assert_int_equal(pthread_create(&first, NULL, charge_once, NULL), 0);
	while (!atomic_load(&is_inside))
		usleep(100);
	umemcg_set_reclaim_timeout(60000000);
	assert_int_equal(pthread_create(&second, NULL, charge_once, NULL), 0);
	assert_int_equal(pthread_join(first, &result), 0);
	assert_null(result);
	assert_int_equal(pthread_join(second, &result), 0);
	assert_null(result);
	atomic_store(&may_go, true);
}

/* ---- threads that are cancelled ---- */

/* A cancellation takes place at the next point for it, which is not here. */
static void a_thread_that_waits_for_a_shrinker_is_not_cancelled_there(void **state)
{
	pthread_t thread;
	void *result;

	(void)state;
	use(UMEMCG_SHRINKER_THREAD);
	fill(MAX);
	act = wait_inside;
	atomic_store(&may_go, false);
	assert_int_equal(pthread_create(&thread, NULL, charge_once, NULL), 0);
	while (!atomic_load(&is_inside))
		usleep(100);
	assert_int_equal(pthread_cancel(thread), 0);
	atomic_store(&may_go, true);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, group);
	umemcg_uncharge(group, KIB);
}

static void cancel_itself(struct umemcg *of)
{
	(void)of;
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

static void a_callback_is_not_left_by_a_cancellation(void **state)
{
	pthread_t thread;
	void *result;

	(void)state;
	use(0);
	fill(MAX);
	act = cancel_itself;
	assert_int_equal(pthread_create(&thread, NULL, charge_once, NULL), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, group);
	umemcg_uncharge(group, KIB);
}

#define test_in_group(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_group(what_is_no_shrinker_is_refused),
		test_in_group(a_callback_may_allocate_and_free),
		test_in_group(what_a_callback_cannot_have_reclaims_nothing),
		test_in_group(a_callback_may_unregister_itself),
		test_in_group(a_callback_may_destroy_its_own_group),
		test_in_group(an_explicit_charge_to_a_group_that_is_gone_is_refused),
		test_in_group(a_callback_may_fork),
		test_in_group(a_callback_that_lies_is_not_believed),
		test_in_group(one_that_lies_does_not_hide_one_that_gives),
		test_in_group(one_that_wants_a_thread_gets_one),
		test_in_group(one_that_never_returns_delays_nobody_for_long),
		test_in_group(what_a_destroyed_group_had_registered_is_its_parents),
		test_in_group(heirs_of_heirs_have_all_of_them),
		test_in_group(one_at_the_root_covers_every_group),
		test_in_group(unregistering_waits_for_callbacks),
		test_in_group(who_waits_for_its_turn_leaves_with_who_gave_up),
		test_in_group(a_thread_that_waits_for_a_shrinker_is_not_cancelled_there),
		test_in_group(a_callback_is_not_left_by_a_cancellation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
