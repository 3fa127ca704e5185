/* SPDX-License-Identifier: MIT */
/*
 * Threads store pages, get them back and free them, one another's too, in groups that come and go,
 * beside a thread that forks: every page is what it was, and at the end the books are empty.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compressor_path.h"
#include "stored.h"
#include "umemcg.h"

#define NR_WORKERS 4
#define NR_PLACES  64
#define NR_STEPS   6000
#define NR_FORKS   20

/* Pages that threads take and put: whoever takes one has it to itself. */
struct place {
	pthread_mutex_t lock;
	store_slot slot;
	enum test_page kind;
	uint64_t seed;
};

static char directory[] = "/tmp/umemcg-store-race-XXXXXX";
static struct place places[NR_PLACES];
static struct umemcg *top;

static void put(struct place *place, struct umemcg *group, uint64_t random)
{
	char page[PAGE];

	place->kind = random % NR_TEST_PAGES;
	place->seed = random;
	test_page_make(page, place->kind, place->seed);
	/* No room in the file, which is smaller than all pages. */
	if (stored_put(group, page, &place->slot))
		place->slot = STORE_NONE;
}

static void get(struct place *place)
{
	char page[PAGE], expected[PAGE];

	test_page_make(expected, place->kind, place->seed);
	if (store_get(place->slot, page) || memcmp(page, expected, PAGE))
		abort();
}

static void *work(void *arg)
{
	uint64_t state = (uintptr_t)arg + 1;
	struct umemcg *group = NULL;

	for (unsigned int step = 0; step < NR_STEPS; step++) {
		uint64_t random = test_random(&state);
		struct place *place = &places[random % NR_PLACES];

		if (step % 50 == 0 && (umemcg_destroy(group) || umemcg_create(top, NULL, &group)))
			abort();
		pthread_mutex_lock(&place->lock);
		if (place->slot == STORE_NONE) {
			put(place, group, random >> 8);
		} else {
			get(place);
			if (random >> 32 & 1) {
				store_free(place->slot);
				place->slot = STORE_NONE;
			}
		}
		pthread_mutex_unlock(&place->lock);
	}
	if (umemcg_destroy(group))
		abort();
	return NULL;
}

static void fork_and_check(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		abort();
}

static void no_page_is_lost_and_the_books_are_empty_at_the_end(void **state)
{
	pthread_t threads[NR_WORKERS];
	struct umemcg_audit audit;
	char text[64];

	(void)state;
	for (uintptr_t i = 0; i < NR_WORKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	for (unsigned int i = 0; i < NR_FORKS; i++)
		fork_and_check();
	for (unsigned int i = 0; i < NR_WORKERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(umemcg_audit(&audit), 0);
	for (unsigned int i = 0; i < NR_PLACES; i++) {
		if (places[i].slot != STORE_NONE)
			get(&places[i]);
		store_free(places[i].slot);
	}
	assert_int_equal(umemcg_get_current(top), 0);
	assert_int_equal(umemcg_read(top, "memory.swap.current", text, sizeof(text)), 2);
	assert_string_equal(text, "0\n");
	assert_int_equal(umemcg_audit(&audit), 0);
}

static int init(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NR_PLACES; i++)
		pthread_mutex_init(&places[i].lock, NULL);
	load_compressor();
	if (!mkdtemp(directory) || umemcg_set_swap(directory, NR_PLACES / 4 * PAGE))
		return -1;
	return umemcg_create(NULL, NULL, &top);
}

static int fini(void **state)
{
	(void)state;
	return umemcg_set_swap(NULL, 0) || umemcg_destroy(top) || rmdir(directory) ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_page_is_lost_and_the_books_are_empty_at_the_end),
	};

	return cmocka_run_group_tests(tests, init, fini);
}
