/* SPDX-License-Identifier: MIT */
/* The break: what it grows by is charged, what it shrinks by is given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "mappings.h"
#include "umemcg.h"

#define PAGE 4096u

static struct umemcg *group;

static uint64_t charged(void)
{
	struct umemcg_stat stat;

	assert_int_equal(umemcg_get_stat(group, &stat), 0);
	return stat.nr_bytes_anon;
}

static void the_break_is_charged_in_whole_pages(void **state)
{
	char *old = mappings_move_break(0);
	/* What is left of its last page is there already. */
	size_t nr_rest = -(uintptr_t)old & (PAGE - 1);

	(void)state;
	assert_ptr_equal(mappings_move_break((intptr_t)nr_rest), old);
	assert_int_equal(charged(), 0);
	old += nr_rest;
	assert_ptr_equal(mappings_move_break(1), old);
	assert_int_equal(charged(), PAGE);
	assert_int_equal(mappings_set_break(old + 3 * PAGE), 0);
	assert_int_equal(charged(), 3 * PAGE);
	old[3 * PAGE - 1] = 1;
	assert_ptr_equal(mappings_move_break(-1), old + 3 * PAGE);
	assert_int_equal(charged(), 3 * PAGE);
	assert_ptr_equal(mappings_move_break(-(intptr_t)PAGE), old + 3 * PAGE - 1);
	assert_int_equal(charged(), 2 * PAGE);
	assert_int_equal(mappings_set_break(old), 0);
	assert_int_equal(charged(), 0);
}

static void libc_knows_where_the_break_is(void **state)
{
	char *old = mappings_move_break(PAGE);

	(void)state;
	assert_ptr_not_equal(old, (void *)-1);
	assert_ptr_equal(sbrk(0), old + PAGE);
	assert_int_equal(mappings_set_break(old), 0);
	assert_ptr_equal(sbrk(0), old);
}

static void a_refused_break_stays_where_it_was(void **state)
{
	char *old = mappings_move_break(0);

	(void)state;
	assert_int_equal(umemcg_set_max(group, 2 * PAGE), 0);
	errno = 0;
	assert_ptr_equal(mappings_move_break(4 * PAGE), (void *)-1);
	assert_int_equal(errno, ENOMEM);
	errno = 0;
	assert_int_equal(mappings_set_break(old + 4 * PAGE), -1);
	assert_int_equal(errno, ENOMEM);
	assert_ptr_equal(mappings_move_break(0), old);
	assert_int_equal(charged(), 0);
	assert_int_equal(umemcg_set_max(group, UMEMCG_MAX), 0);
	/* The system refuses this one. */
	assert_ptr_equal(mappings_move_break(INTPTR_MIN), (void *)-1);
	assert_int_equal(charged(), 0);
}

static int prepare(void **state)
{
	(void)state;
	if (umemcg_create(NULL, "break", &group))
		return -1;
	umemcg_enter(group);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_break_is_charged_in_whole_pages),
		cmocka_unit_test(libc_knows_where_the_break_is),
		cmocka_unit_test(a_refused_break_stays_where_it_was),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
