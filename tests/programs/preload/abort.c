/* SPDX-License-Identifier: MIT */
/* A program that gives up at its limit: what it does then gets memory from the reserve. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"

#define MAX_BYTES ((uint64_t)4 << 20)
#define RESERVE   ((uint64_t)1 << 20)
#define NR_BYTES  ((size_t)256 << 10)

static struct umemcg *group;

static void fill_group(void)
{
	umemcg_set_max(group, MAX_BYTES);
	umemcg_set_reserve(group, RESERVE);
	umemcg_enter(group);
	for (size_t nr_bytes = NR_BYTES; nr_bytes >= 16; nr_bytes /= 2)
		while (malloc(nr_bytes))
			;
}

static void allocate_and_leave(int signal)
{
	void *object = malloc(NR_BYTES);

	(void)signal;
	if (object)
		memset(object, 'x', NR_BYTES);
	_exit(object ? 42 : 1);
}

static int give_up(void)
{
	signal(SIGABRT, allocate_and_leave);
	fill_group();
	if (malloc(NR_BYTES))
		return 2;
	abort();
}

static int just_abort(void)
{
	signal(SIGABRT, SIG_DFL);
	abort();
}

static void a_handler_of_abort_is_served_from_the_reserve(void **state)
{
	(void)state;
	group = make_group();
	assert_int_equal(status_of_child(give_up), 42);
}

static void abort_ends_the_program(void **state)
{
	(void)state;
	assert_int_equal(status_of_child(just_abort), 128 + SIGABRT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handler_of_abort_is_served_from_the_reserve),
		cmocka_unit_test(abort_ends_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
