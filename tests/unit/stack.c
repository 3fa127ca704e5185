/* SPDX-License-Identifier: MIT */
/* Charged stacks: the ones a program asks for, and those of threads, however these end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "umemcg.h"

#define KIB         1024u
#define STACK_BYTES (256u * KIB)

static struct umemcg *group;
static pthread_attr_t attr;
static sem_t started, may_end;

static int enter_group(void **state)
{
	(void)state;
	if (umemcg_create(NULL, NULL, &group))
		return -1;
	umemcg_enter(group);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	return sem_init(&started, 0, 0) || sem_init(&may_end, 0, 0);
}

/* Fails if a test left anything charged. */
static int leave_group(void **state)
{
	struct umemcg_stat stat;

	(void)state;
	umemcg_enter(NULL);
	pthread_attr_destroy(&attr);
	if (umemcg_get_stat(group, &stat) || stat.nr_bytes_stack)
		return -1;
	return umemcg_destroy(group);
}

static uint64_t stack_bytes(void)
{
	struct umemcg_stat stat;

	assert_int_equal(umemcg_get_stat(group, &stat), 0);
	return stat.nr_bytes_stack;
}

static void a_stack_is_charged_by_whole_pages(void **state)
{
	char *stack = NULL;

	(void)state;
	assert_int_equal(umemcg_stack_alloc(100 * KIB + 1, (void **)&stack), 0);
	assert_int_equal(stack_bytes(), 104 * KIB);
	stack[0] = stack[104 * KIB - 1] = 1;
	umemcg_stack_free(stack);
	assert_int_equal(stack_bytes(), 0);
}

static void below_a_stack_lies_a_guard(void **state)
{
	volatile char *stack = NULL;
	pid_t child;
	int status;

	(void)state;
	assert_int_equal(umemcg_stack_alloc(STACK_BYTES, (void **)&stack), 0);
	child = fork();
	if (!child) {
		/* Whatever sanitizer there is may not turn the signal into an exit. */
		struct sigaction action = { .sa_handler = SIG_DFL };

		sigaction(SIGSEGV, &action, NULL);
		stack[-1] = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	umemcg_stack_free((void *)stack);
}

static void a_stack_too_small_or_too_large_is_refused(void **state)
{
	void *stack = NULL;

	(void)state;
	assert_int_equal(umemcg_stack_alloc(0, &stack), -EINVAL);
	assert_int_equal(umemcg_stack_alloc((size_t)PTHREAD_STACK_MIN - 1, &stack), -EINVAL);
	assert_int_equal(umemcg_stack_alloc(SIZE_MAX, &stack), -ENOMEM);
	assert_int_equal(umemcg_set_max(group, STACK_BYTES), 0);
	assert_int_equal(umemcg_stack_alloc(STACK_BYTES + 1, &stack), -ENOMEM);
	assert_null(stack);
	assert_int_equal(stack_bytes(), 0);
	assert_int_equal(umemcg_stack_alloc(STACK_BYTES, &stack), 0);
	umemcg_stack_free(stack);
}

static void the_owner_is_repaid_whoever_frees_the_stack(void **state)
{
	void *stack;

	(void)state;
	assert_int_equal(umemcg_stack_alloc(STACK_BYTES, &stack), 0);
	umemcg_enter(NULL);
	umemcg_stack_free(stack);
	assert_int_equal(stack_bytes(), 0);
}

/* ---- threads ---- */

static void *wait_to_end(void *arg)
{
	sem_post(&started);
	sem_wait(&may_end);
	return arg;
}

static void *exit_from_within(void *arg)
{
	wait_to_end(arg);
	pthread_exit(arg);
}

__attribute__((noreturn)) static void *wait_for_ever(void *arg)
{
	(void)arg;
	sem_post(&started);
	for (;;)
		pause();
}

static void *tell_group(void *arg)
{
	*(struct umemcg **)arg = umemcg_current();
	return NULL;
}

static void a_thread_starts_in_its_creators_group(void **state)
{
	struct umemcg *its = NULL;
	pthread_t thread;

	(void)state;
	assert_int_equal(umemcg_thread_create(&thread, &attr, tell_group, &its), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ptr_equal(its, group);
}

static void *tell_group_at_the_end(void *arg)
{
	(void)arg;
	sem_wait(&may_end);
	return umemcg_current();
}

static void a_group_in_which_a_thread_begins_is_busy(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		struct umemcg *its;
		pthread_t thread;
		void *result;

		assert_int_equal(umemcg_create(NULL, NULL, &its), 0);
		umemcg_enter(its);
		assert_int_equal(umemcg_thread_create(&thread, &attr, tell_group_at_the_end, its),
				 0);
		umemcg_enter(group);
		assert_int_equal(umemcg_destroy(its), -EBUSY);
		sem_post(&may_end);
		pthread_join(thread, &result);
		assert_ptr_equal(result, its);
		assert_int_equal(umemcg_destroy(its), 0);
	}
}

static void check_charged_until_the_end(void *(*start)(void *arg))
{
	void *result = NULL;
	pthread_t thread;

	assert_int_equal(umemcg_thread_create(&thread, &attr, start, &thread), 0);
	sem_wait(&started);
	assert_int_equal(stack_bytes(), STACK_BYTES);
	assert_int_equal(umemcg_destroy(group), -EBUSY);
	sem_post(&may_end);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &thread);
	assert_int_equal(stack_bytes(), 0);
}

static void a_thread_that_returns_gives_its_stack_back(void **state)
{
	(void)state;
	check_charged_until_the_end(wait_to_end);
}

static void a_thread_that_exits_gives_its_stack_back(void **state)
{
	(void)state;
	check_charged_until_the_end(exit_from_within);
}

static void a_thread_that_is_cancelled_gives_its_stack_back(void **state)
{
	void *result = NULL;
	pthread_t thread;

	(void)state;
	assert_int_equal(umemcg_thread_create(&thread, &attr, wait_for_ever, NULL), 0);
	sem_wait(&started);
	assert_int_equal(stack_bytes(), STACK_BYTES);
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(stack_bytes(), 0);
}

/* Nobody can wait for a detached thread but by looking; the test runner's time limit bounds it. */
static void a_detached_thread_gives_its_stack_back(void **state)
{
	const struct timespec a_moment = { .tv_nsec = 1000000 };
	pthread_t thread;

	(void)state;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	assert_int_equal(umemcg_thread_create(&thread, &attr, wait_to_end, NULL), 0);
	sem_wait(&started);
	assert_int_equal(stack_bytes(), STACK_BYTES);
	sem_post(&may_end);
	while (stack_bytes())
		nanosleep(&a_moment, NULL);
	/* Its heap is given back a little later. */
	umemcg_enter(NULL);
	while (umemcg_destroy(group) == -EBUSY)
		nanosleep(&a_moment, NULL);
	assert_int_equal(umemcg_create(NULL, NULL, &group), 0);
}

static void without_attributes_the_systems_size_is_charged(void **state)
{
	pthread_attr_t defaults;
	pthread_t thread;
	size_t nr_bytes;

	(void)state;
	assert_int_equal(pthread_getattr_default_np(&defaults), 0);
	pthread_attr_getstacksize(&defaults, &nr_bytes);
	pthread_attr_destroy(&defaults);
	assert_int_equal(umemcg_thread_create(&thread, NULL, wait_to_end, NULL), 0);
	sem_wait(&started);
	assert_int_equal(stack_bytes(), (nr_bytes + 4095) / 4096 * 4096);
	sem_post(&may_end);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void a_thread_whose_stack_does_not_fit_is_not_made(void **state)
{
	pthread_t thread = 0;

	(void)state;
	assert_int_equal(umemcg_set_max(group, STACK_BYTES - 1), 0);
	assert_int_equal(umemcg_thread_create(&thread, &attr, wait_to_end, NULL), -ENOMEM);
	assert_int_equal(thread, 0);
	assert_int_equal(stack_bytes(), 0);
}

static void nothing_is_charged_if_the_thread_cannot_be_made(void **state)
{
	static char stack[STACK_BYTES] __attribute__((aligned(4096)));
	pthread_t thread = 0;
	pthread_attr_t own;

	(void)state;
	/* A stack of the caller's own cannot be charged. */
	pthread_attr_init(&own);
	pthread_attr_setstack(&own, stack, sizeof(stack));
	assert_int_equal(umemcg_thread_create(&thread, &own, wait_to_end, NULL), -EINVAL);
	pthread_attr_destroy(&own);
	/* More than there is address space: libc's refusal comes back. */
	pthread_attr_setstacksize(&attr, (size_t)1 << 47);
	assert_true(umemcg_thread_create(&thread, &attr, wait_to_end, NULL) < 0);
	assert_int_equal(thread, 0);
	assert_int_equal(umemcg_get_current(group), 0);
}

static void a_forked_child_does_not_count_stacks_of_threads_it_lacks(void **state)
{
	pthread_t thread;
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(umemcg_thread_create(&thread, &attr, wait_to_end, NULL), 0);
	sem_wait(&started);
	child = fork();
	if (!child) {
		struct umemcg_audit report;

		_exit(stack_bytes() != 0 ? 1 : umemcg_audit(&report) ? 2 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(stack_bytes(), STACK_BYTES);
	sem_post(&may_end);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Runs on a charged stack; the child of its fork still stands on it. */
static void *fork_and_wait(void *arg)
{
	pid_t child = fork();

	if (!child)
		_exit(stack_bytes() != STACK_BYTES);
	waitpid(child, arg, 0);
	return NULL;
}

static void a_child_forked_by_a_thread_counts_the_stack_it_stands_on(void **state)
{
	pthread_t thread;
	int status = -1;

	(void)state;
	assert_int_equal(umemcg_thread_create(&thread, &attr, fork_and_wait, &status), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(status, 0);
}

#define test_in_group(name) cmocka_unit_test_setup_teardown(name, enter_group, leave_group)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_group(a_stack_is_charged_by_whole_pages),
		test_in_group(below_a_stack_lies_a_guard),
		test_in_group(a_stack_too_small_or_too_large_is_refused),
		test_in_group(the_owner_is_repaid_whoever_frees_the_stack),
		test_in_group(a_group_in_which_a_thread_begins_is_busy),
		test_in_group(a_thread_starts_in_its_creators_group),
		test_in_group(a_thread_that_returns_gives_its_stack_back),
		test_in_group(a_thread_that_exits_gives_its_stack_back),
		test_in_group(a_thread_that_is_cancelled_gives_its_stack_back),
		test_in_group(a_detached_thread_gives_its_stack_back),
		test_in_group(without_attributes_the_systems_size_is_charged),
		test_in_group(a_thread_whose_stack_does_not_fit_is_not_made),
		test_in_group(nothing_is_charged_if_the_thread_cannot_be_made),
		test_in_group(a_forked_child_does_not_count_stacks_of_threads_it_lacks),
		test_in_group(a_child_forked_by_a_thread_counts_the_stack_it_stands_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
