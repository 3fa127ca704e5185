/* SPDX-License-Identifier: MIT */
/* Whatever a program calls first, and with what. Each case is a process of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "umemcg.h"

/* Of another allocator. */
static void *foreign;

static int in_child(int (*call)(void))
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		foreign = malloc(10);
		_exit(call());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

/* A hardened library aborts when it sees a pointer that is not its own. */
static void assert_noticed(int (*call)(void))
{
	int status = in_child(call);

	if (CONFIG_HARDENED)
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	else
		assert_int_equal(status, 0);
}

static int call_free(void)
{
	umemcg_free(foreign);
	return 0;
}

static int call_usable_size(void)
{
	return umemcg_usable_size(foreign) != 0;
}

static int call_realloc(void)
{
	return umemcg_realloc(foreign, 100) != NULL;
}

static int call_owner(void)
{
	return CONFIG_MEMCG ? umemcg_owner(foreign) != umemcg_root() : umemcg_usable_size(foreign);
}

static int call_recharge(void)
{
	return CONFIG_MEMCG ? umemcg_recharge(foreign, NULL) != -EINVAL
			    : umemcg_usable_size(foreign);
}

static void a_foreign_pointer_may_come_first(void **state)
{
	(void)state;
	assert_noticed(call_free);
	assert_noticed(call_usable_size);
	assert_noticed(call_realloc);
	assert_noticed(call_owner);
	assert_noticed(call_recharge);
}

static int call_stack_free(void)
{
	umemcg_stack_free(foreign);
	return 0;
}

static int call_unmap(void)
{
	return umemcg_unmap(foreign) != -EINVAL;
}

static int call_destroy(void)
{
	return umemcg_destroy(NULL) || umemcg_cache_destroy(NULL);
}

static int call_failure(void)
{
	struct umemcg_failure failure;

	return umemcg_last_failure(&failure) != -ENOENT;
}

static void mappings_and_groups_may_come_first(void **state)
{
	(void)state;
	assert_int_equal(in_child(call_stack_free), 0);
	assert_int_equal(in_child(call_unmap), 0);
	assert_int_equal(in_child(call_destroy), 0);
	assert_int_equal(in_child(call_failure), 0);
}

static void *work(void *arg)
{
	umemcg_enter(arg);
	for (unsigned int i = 0; i < 100; i++)
		if (!umemcg_malloc_in(NULL, 100) || !umemcg_malloc(100))
			return arg;
	return NULL;
}

static int use_all_with_keys_gone(const pthread_key_t *keys, unsigned int nr_keys)
{
	struct umemcg *group = NULL;
	void *address, *result;
	pthread_t thread;

	if (umemcg_create(NULL, NULL, &group) || umemcg_map(group, 4096, &address) ||
	    umemcg_unmap(address))
		return 1;
	for (unsigned int i = 0; i < 20; i++) {
		if (umemcg_thread_create(&thread, NULL, work, group) ||
		    pthread_join(thread, &result) || result)
			return 2;
	}
	for (unsigned int i = 0; i < nr_keys; i++)
		if (pthread_getspecific(keys[i]) != keys)
			return 3;
	/* Threads that are gone are in no group, whether or not they could say so. */
	if (umemcg_state() == UMEMCG_ENABLED && umemcg_destroy(group))
		return 4;
	return 0;
}

static int use_up_keys(void)
{
	static pthread_key_t keys[PTHREAD_KEYS_MAX];
	unsigned int nr_keys = 0;

	while (nr_keys < PTHREAD_KEYS_MAX && !pthread_key_create(&keys[nr_keys], NULL))
		pthread_setspecific(keys[nr_keys++], keys);
	return use_all_with_keys_gone(keys, nr_keys);
}

static void a_program_may_have_used_up_all_keys(void **state)
{
	(void)state;
	assert_int_equal(in_child(use_up_keys), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_foreign_pointer_may_come_first),
		cmocka_unit_test(mappings_and_groups_may_come_first),
		cmocka_unit_test(a_program_may_have_used_up_all_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
