/* SPDX-License-Identifier: MIT */
/* Threads that a program makes without a thought of groups: their stacks are charged. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <threads.h>
#include <unistd.h>

#include "require.h"

#define NR_THREADS  300
#define STACK_BYTES ((size_t)256 << 10)

static struct umemcg *group;
static pthread_barrier_t gate;
static sem_t go_on;

static uint64_t stack_bytes(void)
{
	struct umemcg_stat stat;

	assert_int_equal(umemcg_get_stat(group, &stat), 0);
	return stat.nr_bytes_stack;
}

/* A thread that nobody joins says only by this that it has gone. */
static void wait_until_given_back(void)
{
	while (stack_bytes())
		sched_yield();
}

static int enter_group(void **state)
{
	(void)state;
	group = make_group();
	umemcg_enter(group);
	sem_init(&go_on, 0, 0);
	return 0;
}

static int leave_group(void **state)
{
	(void)state;
	umemcg_enter(NULL);
	wait_until_given_back();
	sem_destroy(&go_on);
	/* A detached thread may still be on its way out. What libc keeps of threads stays charged.
	 */
	while (umemcg_destroy(group) == -EBUSY)
		sched_yield();
	return 0;
}

static void *pass_gate_twice(void *arg)
{
	pthread_barrier_wait(&gate);
	pthread_barrier_wait(&gate);
	return arg;
}

static void make_threads(pthread_t *threads, size_t nr, const pthread_attr_t *attr)
{
	pthread_barrier_init(&gate, NULL, nr + 1);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(pthread_create(&threads[i], attr, pass_gate_twice, NULL), 0);
	pthread_barrier_wait(&gate);
}

static void end_threads(pthread_t *threads, size_t nr)
{
	pthread_barrier_wait(&gate);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	pthread_barrier_destroy(&gate);
}

static void hundreds_of_threads_are_charged(void **state)
{
	static pthread_t threads[NR_THREADS];
	pthread_attr_t attr;

	(void)state;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	make_threads(threads, NR_THREADS, &attr);
	assert_int_equal(stack_bytes(), NR_THREADS * STACK_BYTES);
	end_threads(threads, NR_THREADS);
	assert_int_equal(stack_bytes(), 0);
	pthread_attr_destroy(&attr);
}

static void the_default_stack_is_charged(void **state)
{
	pthread_attr_t defaults;
	pthread_t thread;
	size_t nr_bytes;

	(void)state;
	assert_int_equal(pthread_getattr_default_np(&defaults), 0);
	pthread_attr_getstacksize(&defaults, &nr_bytes);
	make_threads(&thread, 1, NULL);
	assert_int_equal(stack_bytes(), nr_bytes);
	end_threads(&thread, 1);
	pthread_attr_destroy(&defaults);
}

static void *do_nothing(void *arg)
{
	return arg;
}

static void churn_leaves_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, do_nothing, NULL), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	assert_int_equal(stack_bytes(), 0);
}

static void *tell_owner(void *arg)
{
	void *object = malloc(100);

	(void)arg;
	return umemcg_owner(object) == umemcg_current() ? object : NULL;
}

static void a_thread_begins_in_its_creators_group(void **state)
{
	pthread_t thread;
	void *object;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, tell_owner, NULL), 0);
	assert_int_equal(pthread_join(thread, &object), 0);
	assert_non_null(object);
	assert_ptr_equal(umemcg_owner(object), group);
	free(object);
}

static void a_stack_that_does_not_fit_is_eagain(void **state)
{
	pthread_t untouched = pthread_self(), thread = untouched;
	pthread_attr_t attr;

	(void)state;
	umemcg_set_max(group, 2 * STACK_BYTES);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 3 * STACK_BYTES);
	assert_int_equal(pthread_create(&thread, &attr, do_nothing, NULL), EAGAIN);
	assert_true(pthread_equal(thread, untouched));
	assert_int_equal(stack_bytes(), 0);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	assert_int_equal(pthread_create(&thread, &attr, do_nothing, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attr);
}

static int answer(void *arg)
{
	*(struct umemcg **)arg = umemcg_current();
	return -42;
}

static void threads_of_c11_are_charged_too(void **state)
{
	struct umemcg *its_group = NULL;
	thrd_t thread;
	int result;

	(void)state;
	assert_int_equal(thrd_create(&thread, answer, &its_group), thrd_success);
	assert_int_equal(thrd_join(thread, &result), thrd_success);
	assert_int_equal(result, -42);
	assert_ptr_equal(its_group, group);
	umemcg_set_max(group, STACK_BYTES);
	assert_int_equal(thrd_create(&thread, answer, &its_group), thrd_nomem);
}

static void *leave_early(void *arg)
{
	pthread_exit(arg);
}

static void *wait_for_cancellation(void *arg)
{
	sem_post(&go_on);
	for (;;)
		pause();
	return arg;
}

static void leaving_early_gives_the_stack_back(void **state)
{
	pthread_t thread;
	void *result;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, leave_early, state), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, state);
	assert_int_equal(stack_bytes(), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_cancellation, NULL), 0);
	sem_wait(&go_on);
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(stack_bytes(), 0);
}

static void *wait_to_go_on(void *arg)
{
	sem_wait(&go_on);
	return arg;
}

static void a_detached_thread_gives_its_stack_back(void **state)
{
	pthread_attr_t attr;
	pthread_t thread;

	(void)state;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	assert_int_equal(pthread_create(&thread, &attr, wait_to_go_on, NULL), 0);
	assert_true(stack_bytes() > 0);
	sem_post(&go_on);
	wait_until_given_back();
	pthread_attr_destroy(&attr);
}

static void a_stack_of_the_programs_own_is_not_charged(void **state)
{
	void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;
	void *object;

	(void)state;
	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstack(&attr, stack, STACK_BYTES), 0);
	make_threads(&thread, 1, &attr);
	assert_int_equal(stack_bytes(), 0);
	end_threads(&thread, 1);
	/* It begins in the group all the same. */
	assert_int_equal(pthread_create(&thread, &attr, tell_owner, NULL), 0);
	assert_int_equal(pthread_join(thread, &object), 0);
	assert_ptr_equal(umemcg_owner(object), group);
	free(object);
	pthread_attr_destroy(&attr);
	munmap(stack, STACK_BYTES);
}

static int count_in_child(void)
{
	pthread_t thread;

	if (stack_bytes())
		return 1;
	if (pthread_create(&thread, NULL, do_nothing, NULL) || pthread_join(thread, NULL))
		return 2;
	return stack_bytes() ? 3 : 0;
}

static void a_child_gives_back_the_threads_that_it_lost(void **state)
{
	pthread_t threads[5];

	(void)state;
	make_threads(threads, 5, NULL);
	assert_true(stack_bytes() > 0);
	assert_int_equal(status_of_child(count_in_child), 0);
	end_threads(threads, 5);
}

static pthread_t made;

static void *compare_name(void *arg)
{
	return pthread_equal(made, pthread_self()) ? arg : NULL;
}

static void a_thread_has_its_name_when_it_begins(void **state)
{
	for (int i = 0; i < 500; i++) {
		void *result;

		assert_int_equal(pthread_create(&made, NULL, compare_name, state), 0);
		assert_int_equal(pthread_join(made, &result), 0);
		assert_ptr_equal(result, state);
	}
}

#define in_group(test) cmocka_unit_test_setup_teardown(test, enter_group, leave_group)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_group(hundreds_of_threads_are_charged),
		in_group(the_default_stack_is_charged),
		in_group(churn_leaves_nothing),
		in_group(a_thread_begins_in_its_creators_group),
		in_group(a_stack_that_does_not_fit_is_eagain),
		in_group(threads_of_c11_are_charged_too),
		in_group(leaving_early_gives_the_stack_back),
		in_group(a_detached_thread_gives_its_stack_back),
		in_group(a_stack_of_the_programs_own_is_not_charged),
		in_group(a_child_gives_back_the_threads_that_it_lost),
		in_group(a_thread_has_its_name_when_it_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
