/* SPDX-License-Identifier: MIT */
/*
 * A signal handler that allocates although it should not. The heap is caught where that is most
 * likely: it touches fresh memory, which this test has made inaccessible.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "kmem/page.h"
#include "umemcg.h"

#define NR_FRESH_BYTES (16 * SLICE_BYTES)

static char *fresh;
static void *to_free;
static volatile unsigned int nr_calls;
static void *from_handler, *large_from_handler;
static int error_in_handler;

static void handle(int signal)
{
	(void)signal;
	nr_calls++;
	mprotect(fresh, NR_FRESH_BYTES, PROT_READ | PROT_WRITE);
	umemcg_free(to_free);
	from_handler = umemcg_malloc(900);
	error_in_handler = errno;
	large_from_handler = umemcg_malloc(1 << 20);
}

static void a_handler_that_allocates_does_not_wait_for_itself(void **state)
{
	struct umemcg_audit audit;
	void *object;

	(void)state;
	to_free = umemcg_malloc(20);
	fresh = (char *)(((uintptr_t)to_free + SLICE_BYTES) & ~(SLICE_BYTES - 1));
	assert_int_equal(mprotect(fresh, NR_FRESH_BYTES, PROT_NONE), 0);
	signal(SIGSEGV, handle);
	object = umemcg_malloc(3000);
	signal(SIGSEGV, SIG_DFL);
	assert_int_equal(nr_calls, 1);
	assert_non_null(object);
	memset(object, 'x', 3000);
	assert_null(from_handler);
	assert_int_equal(error_in_handler, ENOMEM);
	assert_null(large_from_handler);

	/* Afterwards all is as before. */
	from_handler = umemcg_malloc(900);
	large_from_handler = umemcg_malloc(1 << 20);
	assert_non_null(from_handler);
	assert_non_null(large_from_handler);
	umemcg_free(from_handler);
	umemcg_free(large_from_handler);
	umemcg_free(object);
	if (umemcg_state() == UMEMCG_ENABLED)
		assert_int_equal(umemcg_audit(&audit), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handler_that_allocates_does_not_wait_for_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
