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

#include "torture.h"
#include "umemcg.h"

static _Atomic bool stop;

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

/* A signal holds one thread up in the middle of a charge; the ones that wait are cancelled. */
void no_call_is_a_cancellation_point(void **state)
{
	struct sigaction action = { .sa_handler = pause_in_flight };
	pthread_t charging, cancelled[4];
	struct umemcg *group;

	(void)state;
	give_up_after(60);
	atomic_store(&stop, false);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(umemcg_create(NULL, NULL, &group), 0);
	assert_int_equal(umemcg_set_max(group, 2 << 20), 0);
	assert_int_equal(pthread_create(&charging, NULL, charge_and_free, group), 0);
	for (uint64_t i = 0; i < rounds(20); i++) {
		for (unsigned int k = 0; k < 4; k++)
			assert_int_equal(pthread_create(&cancelled[k], NULL, be_cancelled, group),
					 0);
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
	alarm(0);
}
