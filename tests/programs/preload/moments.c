/* SPDX-License-Identifier: MIT */
/* Moments at which a program allocates although everybody is busy with something else. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "moments_library.h"
#include "require.h"

static void *from_preinit;
static enum umemcg_state state_at_preinit;

static void preinit(void)
{
	from_preinit = malloc(1000);
	state_at_preinit = umemcg_state();
}

/* Before any constructor of an ordinary library, libc's own among them. */
__attribute__((section(".preinit_array"), used)) static void (*const preinit_entry)(void) = preinit;

static bool is_ours(void *object)
{
	return umemcg_usable_size(object) != 0;
}

static void before_all_constructors(void **state)
{
	(void)state;
	assert_true(is_ours(from_preinit));
	free(from_preinit);
	/* The environment was read as it should be: see how meson.build has it started. */
	assert_int_equal(state_at_preinit, umemcg_state());
}

static void in_a_librarys_constructor(void **state)
{
	(void)state;
	assert_true(is_ours(moments_from_constructor));
}

static int check_child(void)
{
	return is_ours(moments_from_fork[0]) && !moments_from_fork[1] &&
			       is_ours(moments_from_fork[2])
		       ? 0
		       : 1;
}

static void *allocate_until_told(void *arg)
{
	atomic_bool *is_over = arg;

	while (!atomic_load(is_over))
		free(malloc(rand() % 100000));
	return NULL;
}

static void around_a_fork_of_threads_that_allocate(void **state)
{
	atomic_bool is_over = false;
	pthread_t threads[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, allocate_until_told, &is_over),
				 0);
	for (int i = 0; i < 50; i++) {
		moments_from_fork[1] = NULL;
		assert_int_equal(status_of_child(check_child), 0);
		assert_true(is_ours(moments_from_fork[1]));
	}
	atomic_store(&is_over, true);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static int allocate_and_execute(void)
{
	char **arguments = malloc(2 * sizeof(*arguments));

	arguments[0] = strdup("true");
	arguments[1] = NULL;
	execvp(arguments[0], arguments);
	return 1;
}

static void between_fork_and_exec(void **state)
{
	(void)state;
	assert_int_equal(status_of_child(allocate_and_execute), 0);
}

static void in_a_look_up_that_fails(void **state)
{
	(void)state;
	assert_null(dlsym(RTLD_DEFAULT, "no_such_function"));
	assert_non_null(dlerror());
	assert_null(dlopen("no-such-library.so", RTLD_NOW));
	assert_non_null(dlerror());
}

static void *volatile from_handler;

static void handle(int signal)
{
	(void)signal;
	from_handler = malloc(5000);
}

static void in_a_signal_handler(void **state)
{
	(void)state;
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	assert_true(is_ours(from_handler));
	free(from_handler);
	signal(SIGUSR1, SIG_DFL);
}

static pthread_key_t key;

/* The first times, it asks to be called again. */
static void destroy_in_thread(void *object)
{
	static _Thread_local int nr_calls;

	free(object);
	if (nr_calls++ < 3)
		pthread_setspecific(key, malloc(70000));
}

static void *set_specific(void *arg)
{
	pthread_setspecific(key, malloc(100));
	return arg;
}

static void while_a_thread_ends(void **state)
{
	(void)state;
	assert_int_equal(pthread_key_create(&key, destroy_in_thread), 0);
	for (int i = 0; i < 100; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, set_specific, NULL), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	pthread_key_delete(key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_all_constructors),
		cmocka_unit_test(in_a_librarys_constructor),
		cmocka_unit_test(around_a_fork_of_threads_that_allocate),
		cmocka_unit_test(between_fork_and_exec),
		cmocka_unit_test(in_a_look_up_that_fails),
		cmocka_unit_test(in_a_signal_handler),
		cmocka_unit_test(while_a_thread_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
