/* SPDX-License-Identifier: MIT */
/*
 * The account's promises on the charge floor alone, with more threads than cores: no heap, no
 * objects, only stocks. Run it also with a stock of one byte and under ThreadSanitizer.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "charge/barrier.h"
#include "charge/charge.h"
#include "charge/drain.h"
#include "charge/owner.h"
#include "charge/stock.h"
#include "group/failure.h"
#include "group/group.h"
#include "group/rare.h"

#define NR_THREADS 16
#define OBJECT     64u
#define GATE       3u
#define NR_LISTED  7u
#define HAMMER_RUN 32u

/* For threads as well, in which cmocka's assertions may not fail. */
#define check(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

struct worker {
	pthread_t thread;
	struct flight flight;
	struct stock *stock; /* the row of the worker's number */
	struct umemcg *group;
	uint64_t nr_held; /* objects that it may hold at most, or was able to take */
	uint64_t nr_rounds;
	uint32_t nr_listed; /* on the gate's pretended list, which the stock keeps while unbound */
	unsigned int seed;
};

/* A chunk, and behind it its window. */
static char chunk[2 * WINDOW_DISTANCE] aligned_to(4096);

static struct worker workers[NR_THREADS];
static pthread_barrier_t start;

/* The main thread's. */
static struct flight own_flight;

/* A branch that the tests share, from top to bottom: each leaves it empty and without limits. */
static struct umemcg *top, *middle, *bottom;

static uint64_t rounds(uint64_t usual)
{
	const char *scale = getenv("UMEMCG_TEST_SCALE");

	return scale ? usual * strtoull(scale, NULL, 10) / 100 : usual;
}

static void set_max(struct umemcg *group, uint64_t max)
{
	check(!group_set_max(&own_flight, group, max));
}

static uint64_t usage(const struct umemcg *group)
{
	return atomic_load(&group_counter(group)->usage);
}

static void prepare(struct worker *worker, struct umemcg *group, unsigned int seed)
{
	if (!worker->stock) {
		worker->stock = (void *)(chunk + (worker - workers) * WINDOW_ROW_BYTES);
		flight_register(&worker->flight);
		stock_init(worker->stock, &worker->flight);
	}
	stock_bind(worker->stock, group->owner);
	worker->group = group;
	worker->seed = seed;
}

/* What malloc does: the gate first, then the slow way with new objects if the list is empty. */
static bool take_object(struct worker *worker)
{
	uint32_t nr_new = 0;

	if (!stock_take_object(&worker->stock->gates[GATE])) {
		if (!worker->nr_listed)
			worker->nr_listed = nr_new = NR_LISTED;
		if (stock_refill(worker->stock, GATE, nr_new) < 0)
			return false;
	}
	check(worker->nr_listed > 0);
	worker->nr_listed--;
	return true;
}

static void put_object(struct worker *worker)
{
	if (!stock_put_bytes(worker->stock, OBJECT))
		stock_uncharge(worker->stock, OBJECT);
}

static void run(void *(*body)(void *), unsigned int nr)
{
	pthread_barrier_init(&start, NULL, nr);
	for (unsigned int i = 0; i < nr; i++)
		check(!pthread_create(&workers[i].thread, NULL, body, &workers[i]));
	for (unsigned int i = 0; i < nr; i++)
		check(!pthread_join(workers[i].thread, NULL));
	pthread_barrier_destroy(&start);
}

static void *fill(void *arg)
{
	struct worker *worker = arg;

	worker->nr_held = 0;
	pthread_barrier_wait(&start);
	while (take_object(worker))
		worker->nr_held++;
	return NULL;
}

static void fill_exactly(struct umemcg *limited, struct umemcg *charged)
{
	uint64_t max = 1000003, sum = 0;

	set_max(limited, max);
	for (unsigned int i = 0; i < NR_THREADS; i++)
		prepare(&workers[i], charged, i);
	run(fill, NR_THREADS);
	for (unsigned int i = 0; i < NR_THREADS; i++)
		sum += workers[i].nr_held;
	if (sum != max / OBJECT)
		fprintf(stderr, "%" PRIu64 " objects, not %" PRIu64 "\n", sum, max / OBJECT);
	check(sum == max / OBJECT);
	check(usage(limited) <= max);
	for (unsigned int i = 0; i < NR_THREADS; i++) {
		while (workers[i].nr_held) {
			put_object(&workers[i]);
			workers[i].nr_held--;
		}
		stock_unbind(workers[i].stock);
	}
	check(usage(charged) == 0 && usage(group_root()) == 0);
	set_max(limited, UMEMCG_MAX);
}

/* Promise 2, by count: exactly max / size succeed, wherever in the tree the limit is. */
static void threads_fill_a_group_exactly(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		fill_exactly(middle, middle);
		fill_exactly(top, bottom);
	}
}

static void *churn(void *arg)
{
	struct worker *worker = arg;
	uint64_t nr = 0;

	pthread_barrier_wait(&start);
	for (uint64_t round = 0; round < worker->nr_rounds; round++) {
		bool take = nr == 0 || (nr < worker->nr_held && rand_r(&worker->seed) % 2);

		if (take) {
			check(take_object(worker));
			nr++;
		} else {
			put_object(worker);
			nr--;
		}
		if (round % 512 == 0)
			check(usage(worker->group) <=
			      atomic_load(&group_counter(worker->group)->max));
	}
	while (nr--)
		put_object(worker);
	return NULL;
}

static void churn_in(struct umemcg *limited, struct umemcg *charged)
{
	const uint64_t each = 50;

	set_max(limited, NR_THREADS * each * OBJECT);
	for (unsigned int i = 0; i < NR_THREADS; i++) {
		prepare(&workers[i], charged, 77 + i);
		workers[i].nr_held = each;
		workers[i].nr_rounds = rounds(200000);
	}
	run(churn, NR_THREADS);
	for (unsigned int i = 0; i < NR_THREADS; i++)
		stock_unbind(workers[i].stock);
	check(usage(charged) == 0 && usage(group_root()) == 0);
	set_max(limited, UMEMCG_MAX);
}

/* Promise 2, under churn: all that the threads ever want together fits to the byte. */
static void churn_that_fits_is_never_refused(void **state)
{
	(void)state;
	churn_in(middle, middle);
	churn_in(top, bottom);
}

static void *large(void *arg)
{
	struct worker *worker = arg;

	pthread_barrier_wait(&start);
	for (uint64_t round = 0; round < worker->nr_rounds; round++) {
		bool fits = !stock_charge(worker->stock, worker->nr_held);

		/* 50 always fits below the parent's 50; 60 never does. */
		check(fits == (worker->nr_held == 50));
		if (fits)
			stock_uncharge(worker->stock, 50);
	}
	return NULL;
}

/* Promise 3: a 60 that fails at the parent's 50 does not refuse a 50 beside it at the child's 100.
 */
static void a_charge_that_fails_does_not_make_another_fail(void **state)
{
	(void)state;
	set_max(top, 50);
	set_max(bottom, 100);
	for (unsigned int i = 0; i < 4; i++) {
		prepare(&workers[i], bottom, i);
		workers[i].nr_held = i ? 60 : 50;
		workers[i].nr_rounds = rounds(20000);
	}
	run(large, 4);
	for (unsigned int i = 0; i < 4; i++)
		stock_unbind(workers[i].stock);
	check(usage(bottom) == 0 && usage(group_root()) == 0);
	set_max(top, UMEMCG_MAX);
	set_max(bottom, UMEMCG_MAX);
}

/* Promise 6 and 10: others free what a destroyed group owned, and nothing is left. */
static void the_heir_is_repaid(void **state)
{
	uint64_t before = usage(group_root());

	(void)state;
	for (uint64_t round = 0; round < rounds(100000); round++) {
		struct umemcg *group;
		uint32_t owner;

		check(!group_create(top, NULL, &group));
		owner = group->owner;
		prepare(&workers[0], group, 0);
		check(take_object(&workers[0]) && take_object(&workers[0]));
		check(!group_destroy(&own_flight, group));
		check(usage(top) == before + 2 * OBJECT);
		put_object(&workers[0]);
		owner_uncharge(&workers[1].flight, owner, OBJECT);
		stock_unbind(workers[0].stock);
		check(usage(top) == before);
	}
}

static _Atomic bool drained_enough;

/* In runs, so that what was freed pays for what is listed, and moves from word to word. */
static void *hammer(void *arg)
{
	struct worker *worker = arg;

	pthread_barrier_wait(&start);
	for (uint64_t round = 0; !atomic_load_explicit(&drained_enough, memory_order_relaxed);
	     round++) {
		for (unsigned int i = 0; i < HAMMER_RUN; i++)
			check(take_object(worker));
		if (round % 64 == 0) {
			check(!stock_charge(worker->stock, 5));
			stock_uncharge(worker->stock, 5);
		}
		for (unsigned int i = 0; i < HAMMER_RUN; i++)
			put_object(worker);
		check(drain_bytes_below(ROOT_COUNTER) <= NR_THREADS * STOCK_MAX_BYTES);
	}
	return NULL;
}

static void *drain(void *arg)
{
	struct worker *worker = arg;

	pthread_barrier_wait(&start);
	for (uint64_t round = 0; round < worker->nr_rounds; round++)
		group_drain(&worker->flight, worker->group);
	atomic_store(&drained_enough, true);
	return NULL;
}

/* Closing words under the hands of their owner loses and invents nothing. */
static void drains_beside_the_fast_path_lose_nothing(void **state)
{
	(void)state;
	drained_enough = false;
	for (unsigned int i = 0; i < 3; i++) {
		prepare(&workers[i], middle, i);
		workers[i].nr_rounds = rounds(1000000);
	}
	pthread_barrier_init(&start, NULL, 3);
	for (unsigned int i = 0; i < 3; i++)
		check(!pthread_create(&workers[i].thread, NULL, i ? hammer : drain, &workers[i]));
	for (unsigned int i = 0; i < 3; i++)
		check(!pthread_join(workers[i].thread, NULL));
	pthread_barrier_destroy(&start);
	for (unsigned int i = 0; i < 3; i++)
		stock_unbind(workers[i].stock);
	check(usage(middle) == 0 && usage(group_root()) == 0);
	check(atomic_load(&rare_of(middle)->events[UMEMCG_EVENT_UNDERFLOW]) == 0);
}

/* A remembered refusal is forgotten as soon as anything is given back below it. */
static void what_is_given_back_is_noticed(void **state)
{
	struct stock *mine, *others;

	(void)state;
	set_max(middle, 3 * OBJECT);
	prepare(&workers[0], middle, 0);
	prepare(&workers[1], middle, 0);
	mine = workers[0].stock;
	others = workers[1].stock;
	check(take_object(&workers[1]) && take_object(&workers[1]));
	check(stock_charge(mine, 2 * OBJECT) == -ENOMEM);
	/* Fits, and must not open a stock that would hide what comes back. */
	check(take_object(&workers[1]));
	put_object(&workers[1]);
	put_object(&workers[1]);
	check(!stock_charge(mine, 2 * OBJECT));
	stock_uncharge(mine, 2 * OBJECT);
	put_object(&workers[1]);
	stock_unbind(mine);
	stock_unbind(others);
	check(usage(middle) == 0);
	set_max(middle, UMEMCG_MAX);
}

static int prepare_tree(void **state)
{
	(void)state;
	switch_read("cgroup_enable=memory");
	check(!window_map(chunk));
	barrier_init();
	if (group_init())
		return -1;
	failure_init();
	flight_register(&own_flight);
	stock_gate_bytes[GATE] = OBJECT;
	if (group_create(group_root(), "top", &top) || group_create(top, "middle", &middle))
		return -1;
	return group_create(middle, "bottom", &bottom);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_fill_a_group_exactly),
		cmocka_unit_test(churn_that_fits_is_never_refused),
		cmocka_unit_test(a_charge_that_fails_does_not_make_another_fail),
		cmocka_unit_test(drains_beside_the_fast_path_lose_nothing),
		cmocka_unit_test(what_is_given_back_is_noticed),
		cmocka_unit_test(the_heir_is_repaid),
	};

	return cmocka_run_group_tests(tests, prepare_tree, NULL);
}
