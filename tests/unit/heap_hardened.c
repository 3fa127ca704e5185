/* SPDX-License-Identifier: MIT */
/* What a hardened build notices: each fault is committed in a child, which must abort and say why.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "umemcg.h"

/* The faults hide behind this, so that no compiler sees them. */
static void *volatile pointer;

static void double_free(void)
{
	umemcg_free(pointer);
	umemcg_free(pointer);
}

static void late_double_free(void)
{
	void *other = umemcg_malloc(100);

	umemcg_free(pointer);
	for (unsigned int i = 0; i < 1000; i++)
		umemcg_free(umemcg_malloc(3000));
	umemcg_free(other);
	umemcg_free(pointer);
}

static void free_of_an_interior_pointer(void)
{
	umemcg_free((char *)pointer + 16);
}

static void free_of_a_foreign_pointer(void)
{
	int here;

	pointer = &here;
	umemcg_free(pointer);
}

static void double_free_of_a_large_object(void)
{
	pointer = umemcg_malloc(1000000);
	umemcg_free(pointer);
	umemcg_free(pointer);
}

static void free_inside_a_large_object(void)
{
	pointer = umemcg_malloc(1000000);
	umemcg_free((char *)pointer + 65536);
}

static void realloc_after_free(void)
{
	umemcg_free(pointer);
	pointer = umemcg_realloc(pointer, 5000);
}

static void write_after_free(void)
{
	umemcg_free(pointer);
	memset(pointer, 0x41, 100);
	for (unsigned int i = 0; i < 2000; i++)
		pointer = umemcg_malloc(100);
}

static void expect_abort(void (*fault)(void))
{
	char output[512] = "", address[32];
	int ends[2], status;
	pid_t pid;

	if (!CONFIG_HARDENED) {
		print_message("SKIP: not a hardened build\n");
		skip();
	}
	pointer = umemcg_malloc(100);
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		fault();
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(read(ends[0], output, sizeof(output) - 1) >= 0);
	close(ends[0]);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_memory_equal(output, "umemcg: 0x", 10);
	/* Where it is known beforehand, the address is the one that was freed. */
	snprintf(address, sizeof(address), "%p", pointer);
	if (fault == double_free || fault == late_double_free)
		assert_non_null(strstr(output, address));
	umemcg_free(pointer);
}

static void a_double_free_aborts(void **state)
{
	(void)state;
	expect_abort(double_free);
	expect_abort(late_double_free);
	expect_abort(double_free_of_a_large_object);
}

static void an_interior_pointer_aborts(void **state)
{
	(void)state;
	expect_abort(free_of_an_interior_pointer);
	expect_abort(free_inside_a_large_object);
}

static void a_foreign_pointer_aborts(void **state)
{
	(void)state;
	expect_abort(free_of_a_foreign_pointer);
}

static void a_freed_object_cannot_be_resized(void **state)
{
	(void)state;
	expect_abort(realloc_after_free);
}

static void an_overwritten_link_aborts(void **state)
{
	(void)state;
	expect_abort(write_after_free);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_double_free_aborts),
		cmocka_unit_test(an_interior_pointer_aborts),
		cmocka_unit_test(a_foreign_pointer_aborts),
		cmocka_unit_test(a_freed_object_cannot_be_resized),
		cmocka_unit_test(an_overwritten_link_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
