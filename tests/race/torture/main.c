/* SPDX-License-Identifier: MIT */
/*
 * Threads that do everything at once, at random, beside a model that knows what must come of it.
 *
 * UMEMCG_TEST_SEED repeats a schedule as far as threads allow, UMEMCG_TEST_SCALE is percent of the
 * usual length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "torture.h"

unsigned int seed;

uint64_t rounds(uint64_t usual)
{
	const char *scale = getenv("UMEMCG_TEST_SCALE");
	uint64_t nr = scale ? usual * strtoull(scale, NULL, 10) / 100 : usual;

	return nr ? nr : 1;
}

void give_up_after(unsigned int seconds)
{
	alarm(seconds);
}

static int choose_seed(void **state)
{
	const char *wanted = getenv("UMEMCG_TEST_SEED");

	(void)state;
	seed = wanted ? (unsigned int)strtoul(wanted, NULL, 10) : (unsigned int)getpid();
	fprintf(stderr, "UMEMCG_TEST_SEED=%u\n", seed);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_refused_while_it_fits_when_all_ask),
		cmocka_unit_test(never_refused_while_it_fits_when_one_asks),
		cmocka_unit_test(everything_at_once_leaves_nothing_behind),
		cmocka_unit_test(no_call_is_a_cancellation_point),
		cmocka_unit_test(a_child_finds_its_books_in_order),
		cmocka_unit_test(a_walk_survives_groups_that_go),
	};

	return cmocka_run_group_tests(tests, choose_seed, NULL);
}
