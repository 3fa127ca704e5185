/* SPDX-License-Identifier: MIT */
/*
 * Many threads touch regions of two groups under a parent that has room for a few pages each, while
 * others allocate there. What each has written is found again, and no touch fails: something can
 * always be evicted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "compressor_path.h"
#include "pages.h"
#include "touch.h"
#include "umemcg.h"

#define NR_THREADS 12
#define MAX        ((size_t)1 << 20)
#define NR_PAGES   (4 * MAX / PAGE)
#define NR_WORDS   (PAGE / 8)

static struct umemcg *top, *groups[2];
static uint64_t (*regions[2])[NR_WORDS];
static _Atomic bool is_over;

static void must(bool is_true)
{
	if (!is_true)
		abort();
}

/* Each has a word of its own in every page. */
static void *touch(void *arg)
{
	uint64_t index = (uintptr_t)arg, random = index + 1, written[NR_PAGES] = { 0 };
	uint64_t(*region)[NR_WORDS] = regions[index % 2];

	/* relaxed: the end may be seen a little late. */
	while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
		uint64_t page = test_random(&random) % NR_PAGES;

		must(region[page][index * 40] == written[page]);
		if (random % 3)
			region[page][index * 40] = written[page] = random;
	}
	return NULL;
}

/* Refused now and then. */
static void *allocate(void *arg)
{
	while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
		void *objects[4];

		for (unsigned int i = 0; i < 4; i++)
			objects[i] = umemcg_malloc_in(groups[0], 50000);
		for (unsigned int i = 0; i < 4; i++)
			umemcg_free(objects[i]);
	}
	return arg;
}

static void no_touch_fails_in_small_groups_under_a_full_parent(void **state)
{
	pthread_t threads[NR_THREADS + 1];
	struct umemcg_audit report;

	(void)state;
	assert_int_equal(umemcg_set_swap("/var/tmp", 16 * MAX), 0);
	/* That allocations are not to wait is no reason for a touch to fail. */
	umemcg_set_reclaim_timeout(1);
	assert_int_equal(umemcg_create(NULL, NULL, &top), 0);
	assert_int_equal(umemcg_set_max(top, MAX), 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(umemcg_create(top, NULL, &groups[i]), 0);
		assert_int_equal(umemcg_map(groups[i], NR_PAGES * PAGE, (void **)&regions[i]), 0);
	}
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, touch, (void *)i), 0);
	assert_int_equal(pthread_create(&threads[NR_THREADS], NULL, allocate, NULL), 0);
	sleep(1);
	atomic_store_explicit(&is_over, true, memory_order_relaxed);
	for (unsigned int i = 0; i <= NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_true(umemcg_get_peak(top) <= MAX);
	assert_int_equal(umemcg_audit(&report), 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(umemcg_unmap(regions[i]), 0);
		assert_int_equal(umemcg_destroy(groups[i]), 0);
	}
	assert_int_equal(umemcg_destroy(top), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_touch_fails_in_small_groups_under_a_full_parent),
	};

	if (!touch_is_possible())
		return 77;
	load_compressor();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
