/* SPDX-License-Identifier: MIT */
/* Commands of workers that take more than one thread. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "shared_workers.h"
#include "umemcg.h"

#define NR_OBJECTS 16

/* Everything at once, and all of it given back in the end. */
static void *whirl_in_thread(void *arg)
{
	uint64_t nr_rounds = *(const uint64_t *)arg, charged[NR_OBJECTS] = { 0 };
	unsigned int seed = (unsigned int)gettid();
	void *objects[NR_OBJECTS] = { NULL };

	for (uint64_t round = 0; round < nr_rounds; round++) {
		unsigned int i = rand_r(&seed) % NR_OBJECTS;
		uint64_t nr_bytes = 1 + rand_r(&seed) % 30000;

		umemcg_free(objects[i]);
		objects[i] = umemcg_malloc(nr_bytes);
		umemcg_uncharge(NULL, charged[i]);
		charged[i] = umemcg_try_charge(NULL, nr_bytes) ? 0 : nr_bytes;
		if (round % 256 == 0 && gettid() == getpid())
			fork_and_wait(false);
	}
	for (unsigned int i = 0; i < NR_OBJECTS; i++) {
		umemcg_free(objects[i]);
		umemcg_uncharge(NULL, charged[i]);
	}
	return NULL;
}

int64_t whirl(uint64_t nr_rounds)
{
	pthread_t thread;

	/* Made ready by one thread, so that nobody looks at what is half made. */
	umemcg_state();
	if (pthread_create(&thread, NULL, whirl_in_thread, &nr_rounds))
		return -EAGAIN;
	whirl_in_thread(&nr_rounds);
	return -pthread_join(thread, NULL);
}

static void *keep_stock(void *arg)
{
	_Atomic bool *is_ready = arg;
	void *object = umemcg_malloc(3000);

	umemcg_free(object);
	/* release: pairs with start_idle_thread(). */
	atomic_store_explicit(is_ready, true, memory_order_release);
	for (;;)
		pause();
	return NULL;
}

int64_t start_idle_thread(void)
{
	_Atomic bool is_ready = false;
	pthread_t thread;

	if (pthread_create(&thread, NULL, keep_stock, &is_ready))
		return -EAGAIN;
	while (!atomic_load_explicit(&is_ready, memory_order_acquire))
		sched_yield();
	return 0;
}
