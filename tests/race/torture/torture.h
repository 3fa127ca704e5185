/* SPDX-License-Identifier: MIT */
/* What the tests of the torture program share: its length, its seed, and how a thread fails. */
#ifndef UMEMCG_TEST_TORTURE_H
#define UMEMCG_TEST_TORTURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_THREADS 16u

extern unsigned int seed;

/** rounds - so many of a test's usual rounds; at least one */
uint64_t rounds(uint64_t usual);

/** give_up_after - a hang is a failure that no assertion sees; alarm(0) takes it back */
void give_up_after(unsigned int seconds);

/* cmocka's assertions belong to the main thread. */
#define require(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* The tests, each in the file of its idea. */
void everything_at_once_leaves_nothing_behind(void **state);
void never_refused_while_it_fits_when_all_ask(void **state);
void never_refused_while_it_fits_when_one_asks(void **state);
void a_walk_survives_groups_that_go(void **state);
void no_call_is_a_cancellation_point(void **state);
void a_child_finds_its_books_in_order(void **state);

#endif
