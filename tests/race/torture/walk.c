/* SPDX-License-Identifier: MIT */
/* Walking over groups that others create and destroy. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "torture.h"
#include "umemcg.h"

static _Atomic bool stop;
static struct umemcg *first_top, *other_top;

static void *come_and_go(void *arg)
{
	unsigned int random = (unsigned int)(uintptr_t)arg + seed;

	while (!atomic_load(&stop)) {
		struct umemcg *groups[8];

		for (unsigned int i = 0; i < 8; i++)
			require(!umemcg_create(rand_r(&random) % 2 ? first_top : other_top, NULL,
					       &groups[i]));
		for (unsigned int i = 0; i < 8; i++)
			require(!umemcg_destroy(groups[i]));
	}
	return NULL;
}

static int count_visit(struct umemcg *group, void *arg)
{
	(void)group;
	++*(uint64_t *)arg;
	return 0;
}

void a_walk_survives_groups_that_go(void **state)
{
	pthread_t threads[3];
	uint64_t nr_visits = 0, nr_walks = rounds(4000);

	(void)state;
	give_up_after(60);
	atomic_store(&stop, false);
	assert_int_equal(umemcg_create(NULL, NULL, &first_top), 0);
	assert_int_equal(umemcg_create(NULL, NULL, &other_top), 0);
	for (uintptr_t i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, (void *)i), 0);
	for (uint64_t i = 0; i < nr_walks; i++)
		assert_int_equal(umemcg_walk(first_top, count_visit, &nr_visits), 0);
	assert_true(nr_visits >= nr_walks);
	atomic_store(&stop, true);
	for (unsigned int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(umemcg_destroy(first_top), 0);
	assert_int_equal(umemcg_destroy(other_top), 0);
	alarm(0);
}
