/* SPDX-License-Identifier: MIT */
/* Cancelling threads that wait in the library. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "pages.h"
#include "torture.h"
#include "touch.h"
#include "umemcg.h"

/* Of a region four times its group's limit; what they hold is not worth compressing. */
#define NR_PAGES 512u

static _Atomic bool stop;
static char *region;

/* Set while the thread is in a call of the library, where no cancellation may take place. */
static _Thread_local volatile bool in_library;
static _Atomic unsigned int nr_cancelled_inside;

static void note_cancellation(void *object)
{
	if (in_library)
		atomic_fetch_add(&nr_cancelled_inside, 1);
	umemcg_free(*(void **)object);
}

static void *be_cancelled(void *arg)
{
	void *volatile object = NULL;

	pthread_cleanup_push(note_cancellation, (void *)&object);
	umemcg_enter(arg);
	for (;;) {
		in_library = true;
		umemcg_free(object);
		object = umemcg_malloc(100000);
		umemcg_drain(arg);
		(void)umemcg_set_max(arg, 2 << 20);
		in_library = false;
		pthread_testcancel();
	}
	pthread_cleanup_pop(1);
	return NULL;
}

/* They are read from the swap file, and others are written there. */
static void touch_and_pin(uint64_t *random)
{
	volatile char *page = region + test_random(random) % NR_PAGES * PAGE;

	(void)*page;
	page = region + test_random(random) % NR_PAGES * PAGE;
	if (!umemcg_pin((char *)page, 1))
		(void)umemcg_unpin((char *)page, 1);
}

static void *touch_and_be_cancelled(void *arg)
{
	void *volatile object = NULL;

	pthread_cleanup_push(note_cancellation, (void *)&object);
	for (;;) {
		in_library = true;
		touch_and_pin(arg);
		in_library = false;
		pthread_testcancel();
	}
	pthread_cleanup_pop(1);
	return NULL;
}

/* NULL: regions are charged when they are mapped here, and nothing waits for a file. */
static struct umemcg *map_region(void)
{
	struct umemcg *group;

	if (umemcg_map_mode() != UMEMCG_MAP_AT_TOUCH)
		return NULL;
	assert_int_equal(umemcg_set_swap("/tmp", 2 * NR_PAGES * PAGE), 0);
	assert_int_equal(umemcg_create(NULL, NULL, &group), 0);
	assert_int_equal(umemcg_set_max(group, NR_PAGES / 4 * PAGE), 0);
	assert_int_equal(umemcg_map(group, NR_PAGES * PAGE, (void **)&region), 0);
	for (unsigned int i = 0; i < NR_PAGES; i++)
		test_page_make(region + (size_t)i * PAGE, TEST_PAGE_RANDOM, i + 1);
	return group;
}

/* It can be had without waiting for somebody who is gone. */
static void check_and_unmap_region(struct umemcg *group)
{
	char bytes[PAGE];

	for (unsigned int i = 0; i < NR_PAGES; i++) {
		test_page_make(bytes, TEST_PAGE_RANDOM, i + 1);
		assert_memory_equal(region + (size_t)i * PAGE, bytes, PAGE);
	}
	assert_int_equal(umemcg_unmap(region), 0);
	umemcg_drain(group);
	assert_int_equal(umemcg_get_current(group), 0);
	assert_int_equal(umemcg_destroy(group), 0);
	assert_int_equal(umemcg_set_swap(NULL, 0), 0);
}

static void *charge_and_free(void *arg)
{
	umemcg_enter(arg);
	while (!atomic_load(&stop))
		umemcg_free(umemcg_malloc(200000));
	return NULL;
}

static void pause_in_flight(int signal)
{
	struct timespec time = { .tv_nsec = 20000000 };

	(void)signal;
	nanosleep(&time, NULL);
}

static void create_cancelled(pthread_t *thread, uint64_t *random, struct umemcg *group)
{
	int r = random ? pthread_create(thread, NULL, touch_and_be_cancelled, random)
		       : pthread_create(thread, NULL, be_cancelled, group);

	assert_int_equal(r, 0);
}

/* A signal holds one thread up in the middle of a charge; the ones that wait are cancelled. */
void no_call_is_a_cancellation_point(void **state)
{
	struct sigaction action = { .sa_handler = pause_in_flight };
	pthread_t charging, cancelled[4];
	uint64_t randoms[4] = { 1, 2, 3, 4 };
	struct umemcg *group, *paged;

	(void)state;
	give_up_after(60);
	paged = map_region();
	atomic_store(&stop, false);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(umemcg_create(NULL, NULL, &group), 0);
	assert_int_equal(umemcg_set_max(group, 2 << 20), 0);
	assert_int_equal(pthread_create(&charging, NULL, charge_and_free, group), 0);
	for (uint64_t i = 0; i < rounds(20); i++) {
		for (unsigned int k = 0; k < 4; k++)
			create_cancelled(&cancelled[k], paged && k % 2 ? &randoms[k] : NULL, group);
		usleep(2000);
		pthread_kill(charging, SIGUSR1);
		usleep(5000);
		for (unsigned int k = 0; k < 4; k++)
			pthread_cancel(cancelled[k]);
		for (unsigned int k = 0; k < 4; k++)
			pthread_join(cancelled[k], NULL);
	}
	atomic_store(&stop, true);
	pthread_join(charging, NULL);
	assert_int_equal(atomic_load(&nr_cancelled_inside), 0);
	umemcg_drain(group);
	assert_int_equal(umemcg_get_current(group), 0);
	assert_int_equal(umemcg_destroy(group), 0);
	if (paged)
		check_and_unmap_region(paged);
	alarm(0);
}
