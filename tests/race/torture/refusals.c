/* SPDX-License-Identifier: MIT */
/*
 * A model of what may be refused.
 *
 * The model counts what may be charged below the limit: from before a charge is asked for until it
 * was refused or its free has returned. For each thread that asks, it keeps the most that was so at
 * any instant since. If that and the request are not above the limit, no refusal can be right.
 */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "slot.h"
#include "torture.h"
#include "umemcg.h"

#define NR_HELD 256u

static pthread_mutex_t model_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t model_bytes;
static uint64_t most_since[NR_THREADS];
static struct umemcg *limited;
static struct slot children[4];
static void *_Atomic held[NR_HELD];
static _Atomic(uint64_t) nr_refused, nr_false;
static bool many_ask;

#define MODEL_MAX ((uint64_t)3 << 20)

static void model_add(int64_t nr_bytes)
{
	pthread_mutex_lock(&model_lock);
	model_bytes += (uint64_t)nr_bytes;
	for (unsigned int i = 0; i < NR_THREADS; i++)
		most_since[i] = model_bytes > most_since[i] ? model_bytes : most_since[i];
	pthread_mutex_unlock(&model_lock);
}

static void model_begin(unsigned int self, uint64_t nr_bytes)
{
	pthread_mutex_lock(&model_lock);
	model_bytes += nr_bytes;
	for (unsigned int i = 0; i < NR_THREADS; i++)
		most_since[i] = model_bytes > most_since[i] ? model_bytes : most_since[i];
	most_since[self] = model_bytes;
	pthread_mutex_unlock(&model_lock);
}

static void ask(unsigned int self, unsigned int *random)
{
	static const uint32_t sizes[] = { 48, 48, 512, 4096, 40960, 131072 };
	uint64_t nr_bytes = sizes[rand_r(random) % 6], most;
	struct slot *slot = &children[rand_r(random) % 4];
	void *object, *other;

	pthread_rwlock_rdlock(&slot->lock);
	model_begin(self, nr_bytes);
	object = umemcg_malloc_in(slot->group, nr_bytes);
	pthread_mutex_lock(&model_lock);
	most = most_since[self];
	pthread_mutex_unlock(&model_lock);
	pthread_rwlock_unlock(&slot->lock);
	if (!object) {
		model_add(-(int64_t)nr_bytes);
		atomic_fetch_add(&nr_refused, 1);
		/* What the thread itself asks for is in there once. */
		if (most <= MODEL_MAX)
			atomic_fetch_add(&nr_false, 1);
		return;
	}
	require(umemcg_usable_size(object) == nr_bytes);
	other = atomic_exchange(&held[rand_r(random) % NR_HELD], object);
	if (!other)
		return;
	nr_bytes = umemcg_usable_size(other);
	umemcg_free(other);
	model_add(-(int64_t)nr_bytes);
}

static void give_back(unsigned int *random)
{
	void *object = atomic_exchange(&held[rand_r(random) % NR_HELD], NULL);
	uint64_t nr_bytes = umemcg_usable_size(object);

	umemcg_free(object);
	if (object)
		model_add(-(int64_t)nr_bytes);
}

static void replace_child(unsigned int *random)
{
	struct slot *slot = &children[rand_r(random) % 4];

	pthread_rwlock_wrlock(&slot->lock);
	if (!umemcg_destroy(slot->group))
		require(!umemcg_create(limited, NULL, &slot->group));
	pthread_rwlock_unlock(&slot->lock);
}

static void *ask_and_give_back(void *arg)
{
	unsigned int self = (unsigned int)(uintptr_t)arg, random = seed + self;

	for (uint64_t i = 0; i < rounds(2000); i++) {
		if (many_ask || self == 0)
			ask(self, &random);
		if (rand_r(&random) % 3 || (!many_ask && self))
			give_back(&random);
		if (rand_r(&random) % 64 == 0)
			replace_child(&random);
		if (rand_r(&random) % 256 == 0)
			umemcg_drain(limited);
	}
	return NULL;
}

static void never_refused_while_it_fits(bool many)
{
	pthread_t threads[NR_THREADS];

	give_up_after(120);
	many_ask = many;
	model_bytes = 0;
	atomic_store(&nr_refused, 0);
	assert_int_equal(umemcg_create(NULL, NULL, &limited), 0);
	assert_int_equal(umemcg_set_max(limited, MODEL_MAX), 0);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(pthread_rwlock_init(&children[i].lock, NULL), 0);
		assert_int_equal(umemcg_create(limited, NULL, &children[i].group), 0);
	}
	for (unsigned int i = 0; i < NR_THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, ask_and_give_back, (void *)(uintptr_t)i),
			0);
	for (unsigned int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	fprintf(stderr, "%" PRIu64 " refusals\n", atomic_load(&nr_refused));
	assert_int_equal(atomic_load(&nr_false), 0);
	for (unsigned int i = 0; i < NR_HELD; i++)
		umemcg_free(atomic_exchange(&held[i], NULL));
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(umemcg_destroy(children[i].group), 0);
	umemcg_drain(limited);
	assert_int_equal(umemcg_get_current(limited), 0);
	assert_int_equal(umemcg_destroy(limited), 0);
	alarm(0);
}

void never_refused_while_it_fits_when_all_ask(void **state)
{
	(void)state;
	never_refused_while_it_fits(true);
}

/* The sharpest form: nothing but frees, and groups that go, beside the one that asks. */
void never_refused_while_it_fits_when_one_asks(void **state)
{
	(void)state;
	never_refused_while_it_fits(false);
}
