/* SPDX-License-Identifier: MIT */
/*
 * Threads fill a limited group with objects that can be evicted, touch and remove them, destroy
 * groups, and register and unregister shrinkers, all beside each other's reclaim.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "umemcg.h"

#define NR_WORKERS 4u
#define NR_SLOTS   64u
#define NR_ROUNDS  10000u
#define MAX        ((uint64_t)384 << 10)
#define RESERVE    ((uint64_t)32 << 10)

#define check(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

struct worker;

struct slot {
	struct worker *worker;
	unsigned char *object;
	size_t size;
	unsigned char filled; /* with this */
	struct umemcg_lru_entry *entry;
};

struct worker {
	pthread_t thread;
	pthread_mutex_t lock; /* of its slots; callbacks only try it */
	unsigned int seed;
	struct umemcg *group; /* of its own, below the limited one */
	struct slot slots[NR_SLOTS];
};

static struct umemcg *top;
static struct umemcg_lru *lru;
static struct worker workers[NR_WORKERS];
static _Atomic bool is_over;
static _Atomic uint64_t nr_evicted, nr_shrunk;

static void check_contents(const struct slot *slot)
{
	for (size_t i = 0; i < slot->size; i += 61)
		check(slot->object[i] == slot->filled);
}

static enum umemcg_lru_status evict(void *object, void *arg)
{
	struct slot *slot = object;

	(void)arg;
	if (pthread_mutex_trylock(&slot->worker->lock))
		return UMEMCG_LRU_SKIP;
	check_contents(slot);
	umemcg_free(slot->object);
	slot->object = NULL;
	slot->entry = NULL;
	pthread_mutex_unlock(&slot->worker->lock);
	atomic_fetch_add(&nr_evicted, 1);
	return UMEMCG_LRU_REMOVED;
}

/* Locked. False: it is being evicted, by who cannot have our lock and leaves it alone. */
static bool empty(struct slot *slot)
{
	if (slot->entry && umemcg_lru_remove(slot->entry))
		return false;
	slot->entry = NULL;
	umemcg_free(slot->object);
	slot->object = NULL;
	return true;
}

/* What is allocated is not yet in its slot, so that an eviction that it brings about cannot meet
 * it. */
static void fill(struct worker *worker, struct slot *slot)
{
	size_t size = 1 + rand_r(&worker->seed) % 6000;
	unsigned char *object;

	if (rand_r(&worker->seed) % 64 == 0)
		size += 40000;
	object = umemcg_malloc(size);
	if (!object)
		return;
	pthread_mutex_lock(&worker->lock);
	if (!slot->object || empty(slot)) {
		slot->worker = worker;
		slot->object = object;
		slot->size = size;
		slot->filled = (unsigned char)rand_r(&worker->seed);
		memset(object, slot->filled, size);
		check(!umemcg_lru_add(lru, worker->group, slot, umemcg_usable_size(object),
				      &slot->entry));
		object = NULL;
	}
	pthread_mutex_unlock(&worker->lock);
	umemcg_free(object);
}

static void use(struct worker *worker, struct slot *slot)
{
	pthread_mutex_lock(&worker->lock);
	if (slot->object) {
		check_contents(slot);
		umemcg_lru_touch(slot->entry);
	}
	if (slot->object && rand_r(&worker->seed) % 8 == 0)
		empty(slot);
	pthread_mutex_unlock(&worker->lock);
}

/* Its objects, and their entries, are the limited group's from now on. */
static void move_house(struct worker *worker)
{
	struct umemcg *old = worker->group;

	check(!umemcg_create(top, NULL, &worker->group));
	umemcg_enter(worker->group);
	check(!old || !umemcg_destroy(old));
}

static void *work(void *arg)
{
	struct worker *worker = arg;

	move_house(worker);
	for (unsigned int i = 0; i < NR_ROUNDS; i++) {
		struct slot *slot = &worker->slots[rand_r(&worker->seed) % NR_SLOTS];

		if (rand_r(&worker->seed) % 256 == 0)
			move_house(worker);
		else if (rand_r(&worker->seed) % 3)
			fill(worker, slot);
		else
			use(worker, slot);
	}
	umemcg_enter(NULL);
	return NULL;
}

/* A cache of explicit charges to the limited group. */
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t cached;

static uint64_t count(struct umemcg *group, void *arg)
{
	uint64_t nr_bytes;

	(void)arg;
	if (group != top || pthread_mutex_trylock(&cache_lock))
		return 0;
	nr_bytes = cached;
	pthread_mutex_unlock(&cache_lock);
	return nr_bytes;
}

static uint64_t scan(struct umemcg *group, uint64_t nr_bytes, void *arg)
{
	uint64_t nr_given;

	(void)arg;
	if (group != top || pthread_mutex_trylock(&cache_lock))
		return 0;
	nr_given = nr_bytes < cached ? nr_bytes : cached;
	cached -= nr_given;
	pthread_mutex_unlock(&cache_lock);
	umemcg_uncharge(group, nr_given);
	atomic_fetch_add(&nr_shrunk, nr_given != 0);
	return nr_given;
}

static void *register_and_unregister(void *arg)
{
	const struct umemcg_shrinker_ops ops = { .count = count, .scan = scan };
	unsigned int round = 0;

	while (!atomic_load(&is_over)) {
		struct umemcg_shrinker *shrinker;
		unsigned int flags = round++ % 2 ? UMEMCG_SHRINKER_THREAD : 0;

		check(!umemcg_shrinker_register(top, &ops, NULL, flags, &shrinker));
		for (unsigned int i = 0; i < 4; i++) {
			if (umemcg_try_charge(top, 20000))
				continue;
			pthread_mutex_lock(&cache_lock);
			cached += 20000;
			pthread_mutex_unlock(&cache_lock);
		}
		usleep(500);
		umemcg_shrinker_unregister(shrinker);
		check(umemcg_get_current(top) <= MAX);
	}
	return arg;
}

static void *watch(void *arg)
{
	while (!atomic_load(&is_over)) {
		check(umemcg_get_current(top) <= MAX);
		umemcg_reclaim(top, 10000);
		usleep(200);
	}
	return arg;
}

static void clean_up(void)
{
	for (unsigned int i = 0; i < NR_WORKERS; i++) {
		struct worker *worker = &workers[i];

		for (unsigned int j = 0; j < NR_SLOTS; j++) {
			pthread_mutex_lock(&worker->lock);
			check(empty(&worker->slots[j]));
			pthread_mutex_unlock(&worker->lock);
		}
		assert_int_equal(umemcg_destroy(worker->group), 0);
	}
	umemcg_uncharge(top, cached);
	umemcg_drain(top);
	assert_int_equal(umemcg_get_current(top), 0);
	assert_int_equal(umemcg_lru_destroy(lru), 0);
	assert_int_equal(umemcg_destroy(top), 0);
}

static void nothing_drifts_while_all_reclaim_from_all(void **state)
{
	struct umemcg_audit report;
	pthread_t registrar, watcher;

	(void)state;
	assert_int_equal(umemcg_create(NULL, NULL, &top), 0);
	assert_int_equal(umemcg_set_max(top, MAX), 0);
	assert_int_equal(umemcg_set_reserve(top, RESERVE), 0);
	assert_int_equal(umemcg_lru_create(evict, NULL, &lru), 0);
	assert_int_equal(pthread_create(&registrar, NULL, register_and_unregister, NULL), 0);
	assert_int_equal(pthread_create(&watcher, NULL, watch, NULL), 0);
	for (unsigned int i = 0; i < NR_WORKERS; i++) {
		pthread_mutex_init(&workers[i].lock, NULL);
		workers[i].seed = i + 1;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (unsigned int i = 0; i < NR_WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	atomic_store(&is_over, true);
	pthread_join(registrar, NULL);
	pthread_join(watcher, NULL);
	assert_int_equal(umemcg_audit(&report), 0);
	assert_true(atomic_load(&nr_evicted) > 0);
	assert_true(atomic_load(&nr_shrunk) > 0);
	clean_up();
}

/* ---- promise: refused only if nothing is given back ---- */

#define NR_FILLERS 4u

static struct umemcg *full;
static _Atomic uint64_t spare;

static uint64_t count_spare(struct umemcg *group, void *arg)
{
	(void)arg;
	return group == full ? atomic_load(&spare) : 0;
}

static uint64_t give_spare(struct umemcg *group, uint64_t nr_bytes, void *arg)
{
	uint64_t has = atomic_load(&spare), given;

	(void)arg;
	do {
		given = nr_bytes < has ? nr_bytes : has;
	} while (!atomic_compare_exchange_weak(&spare, &has, has - given));
	umemcg_uncharge(group, given);
	return given;
}

static void *fill_exactly(void *arg)
{
	uint64_t *nr = arg;

	while (!umemcg_try_charge(full, 1000))
		++*nr;
	return NULL;
}

/* Together they get all that the cache had, and no more. */
static void threads_get_all_that_can_be_reclaimed(void **state)
{
	const struct umemcg_shrinker_ops ops = { .count = count_spare, .scan = give_spare };
	const uint64_t nr_fit = 4000;
	struct umemcg_shrinker *shrinker;
	pthread_t threads[NR_FILLERS];
	uint64_t nrs[NR_FILLERS] = { 0 }, sum = 0;

	(void)state;
	assert_int_equal(umemcg_create(NULL, NULL, &full), 0);
	assert_int_equal(umemcg_set_max(full, nr_fit * 1000), 0);
	assert_int_equal(umemcg_try_charge(full, nr_fit * 1000), 0);
	atomic_store(&spare, nr_fit * 1000);
	umemcg_set_reclaim_timeout(60000000);
	assert_int_equal(umemcg_shrinker_register(full, &ops, NULL, 0, &shrinker), 0);
	for (unsigned int i = 0; i < NR_FILLERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fill_exactly, &nrs[i]), 0);
	for (unsigned int i = 0; i < NR_FILLERS; i++) {
		pthread_join(threads[i], NULL);
		sum += nrs[i];
	}
	umemcg_set_reclaim_timeout(100000);
	assert_int_equal(sum, nr_fit);
	umemcg_shrinker_unregister(shrinker);
	umemcg_uncharge(full, sum * 1000);
	umemcg_drain(full);
	assert_int_equal(umemcg_get_current(full), 0);
	assert_int_equal(umemcg_destroy(full), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_drifts_while_all_reclaim_from_all),
		cmocka_unit_test(threads_get_all_that_can_be_reclaimed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
