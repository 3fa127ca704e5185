/* SPDX-License-Identifier: MIT */
/* Reclaim: who gives how much, when it is asked for, and when it is given up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umemcg.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

#define OBJECT    ((uint64_t)4096)
#define NR_GROUPS 5u
#define MAX       (16 * MIB)

/* A cache of explicit charges. */
struct cache {
	struct umemcg *group;
	uint64_t nr_bytes;
	uint64_t nr_scans;
};

static struct umemcg *top;
static struct cache caches[NR_GROUPS];
static unsigned int nr_caches;
static struct umemcg_shrinker *shrinker;

static struct cache *cache_of(struct umemcg *group)
{
	for (unsigned int i = 0; i < nr_caches; i++)
		if (caches[i].group == group)
			return &caches[i];
	return NULL;
}

static uint64_t count(struct umemcg *group, void *arg)
{
	struct cache *cache = cache_of(group);

	(void)arg;
	return cache ? cache->nr_bytes : 0;
}

static uint64_t scan(struct umemcg *group, uint64_t nr_bytes, void *arg)
{
	struct cache *cache = cache_of(group);
	uint64_t nr_given = 0;

	(void)arg;
	cache->nr_scans++;
	while (nr_given < nr_bytes && cache->nr_bytes >= OBJECT) {
		cache->nr_bytes -= OBJECT;
		nr_given += OBJECT;
		umemcg_uncharge(group, OBJECT);
	}
	return nr_given;
}

static const struct umemcg_shrinker_ops ops = { .count = count, .scan = scan };

static int begin(void **state)
{
	(void)state;
	nr_caches = 0;
	memset(caches, 0, sizeof(caches));
	/* Beyond what a busy machine takes. */
	umemcg_set_reclaim_timeout(60000000);
	if (umemcg_create(NULL, NULL, &top) || umemcg_set_max(top, MAX))
		return -1;
	return umemcg_shrinker_register(top, &ops, NULL, 0, &shrinker);
}

/* Fails if a test left anything charged that its caches do not have. */
static int end(void **state)
{
	(void)state;
	umemcg_shrinker_unregister(shrinker);
	for (unsigned int i = 0; i < nr_caches; i++) {
		umemcg_uncharge(caches[i].group, caches[i].nr_bytes);
		umemcg_drain(caches[i].group);
		if (umemcg_get_current(caches[i].group) || umemcg_destroy(caches[i].group))
			return -1;
	}
	umemcg_drain(top);
	return umemcg_get_current(top) ? -1 : umemcg_destroy(top);
}

static struct cache *add_cache(struct umemcg *parent)
{
	struct cache *cache = &caches[nr_caches++];

	assert_int_equal(umemcg_create(parent, NULL, &cache->group), 0);
	return cache;
}

static int cache_add(struct cache *cache, uint64_t nr_bytes)
{
	int r = umemcg_try_charge(cache->group, nr_bytes);

	if (!r)
		cache->nr_bytes += nr_bytes;
	return r;
}

static uint64_t event_of(struct umemcg *group, const char *name)
{
	char text[512], *line;

	assert_true(umemcg_read(group, "memory.events.local", text, sizeof(text)) > 0);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ' ')
			return strtoull(line + strlen(name), NULL, 10);
	fail_msg("no event %s", name);
	return 0;
}

/* ---- against the formula ---- */

struct setting {
	bool is_nested; /* the groups are below a group that has protection itself */
	double outer_min, outer_low;
	double min[NR_GROUPS], low[NR_GROUPS];
	unsigned int weights[NR_GROUPS]; /* how often each of them grows */
};

static uint32_t random_state;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)(random_state >> 8) * limit) >> 24);
}

/* Whole objects, up to a part of max. */
static double random_size(unsigned int divisor)
{
	return (double)(random_below((uint32_t)(MAX / divisor / OBJECT)) * OBJECT);
}

static void make_setting(struct setting *setting, uint32_t seed)
{
	random_state = seed * 7919;
	setting->is_nested = seed % 2;
	setting->outer_min = random_size(4);
	setting->outer_low = random_size(1);
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		setting->min[i] = random_below(2) ? random_size(8) : 0;
		setting->low[i] = random_below(3) ? random_size(3) : 0;
		setting->weights[i] = 1 + random_below(8);
	}
}

static double lesser(double a, double b)
{
	return a < b ? a : b;
}

/* The kernel's page_counter_calculate_protection() and get_scan_count(), in real numbers. */
static double effective(const struct setting *setting, const double *usage, const double *wanted,
			unsigned int i, double outer)
{
	double sum = 0;

	if (!setting->is_nested)
		return wanted[i];
	for (unsigned int j = 0; j < NR_GROUPS; j++)
		sum += lesser(usage[j], wanted[j]);
	if (sum <= outer)
		return lesser(usage[i], wanted[i]);
	return lesser(usage[i], wanted[i]) * outer / sum;
}

static double part_of(const struct setting *setting, const double *usage, unsigned int i,
		      bool breach)
{
	double min = effective(setting, usage, setting->min, i, setting->outer_min);
	double low = effective(setting, usage, setting->low, i, setting->outer_low);
	double protection = min;

	if (usage[i] <= min)
		return 0;
	if (usage[i] <= low && !breach)
		return 0;
	if (low > min && !breach)
		protection = low;
	return usage[i] - usage[i] * protection / (usage[i] + 1);
}

static void integrate_step(const struct setting *setting, double *usage, double nr_bytes)
{
	double parts[NR_GROUPS], sum = 0;

	for (unsigned int breach = 0; breach < 2 && sum <= 0; breach++) {
		sum = 0;
		for (unsigned int i = 0; i < NR_GROUPS; i++)
			sum += parts[i] = part_of(setting, usage, i, breach);
	}
	for (unsigned int i = 0; i < NR_GROUPS && sum > 0; i++)
		usage[i] -= nr_bytes * parts[i] / sum;
}

static void check_setting(uint32_t seed)
{
	struct umemcg *parent = top;
	struct setting setting;
	double usage[NR_GROUPS] = { 0 }, all = 0;
	unsigned int turn = 0, left = 0;

	make_setting(&setting, seed);
	if (setting.is_nested) {
		assert_int_equal(umemcg_create(top, NULL, &parent), 0);
		assert_int_equal(umemcg_set_min(parent, (uint64_t)setting.outer_min), 0);
		assert_int_equal(umemcg_set_low(parent, (uint64_t)setting.outer_low), 0);
	}
	nr_caches = 0;
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		caches[i] = (struct cache){ 0 };
		add_cache(parent);
		assert_int_equal(umemcg_set_min(caches[i].group, (uint64_t)setting.min[i]), 0);
		assert_int_equal(umemcg_set_low(caches[i].group, (uint64_t)setting.low[i]), 0);
	}
	for (unsigned int i = 0; i < 2 * MAX / OBJECT; i++) {
		for (; !left; turn = (turn + 1) % NR_GROUPS)
			left = setting.weights[turn];
		left--;
		assert_int_equal(cache_add(&caches[(turn + NR_GROUPS - 1) % NR_GROUPS], OBJECT), 0);
		usage[(turn + NR_GROUPS - 1) % NR_GROUPS] += OBJECT;
		all += OBJECT;
		if (all <= MAX)
			continue;
		integrate_step(&setting, usage, all - MAX);
		all = MAX;
	}
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		double is = (double)caches[i].nr_bytes, off = is - usage[i];

		if (off > 0.03 * usage[i] || -off > 0.03 * usage[i])
			fail_msg("setting %u, group %u: %.0f, by the formula %.0f", seed, i, is,
				 usage[i]);
	}
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		umemcg_uncharge(caches[i].group, caches[i].nr_bytes);
		assert_int_equal(umemcg_destroy(caches[i].group), 0);
	}
	nr_caches = 0;
	if (setting.is_nested)
		assert_int_equal(umemcg_destroy(parent), 0);
}

static void siblings_shrink_as_the_formula_says(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++)
		check_setting(seed);
}

/* ---- at the limit ---- */

static void a_charge_fails_only_when_nothing_is_given_back(void **state)
{
	struct umemcg_failure failure;
	struct cache *cache = add_cache(top);
	struct umemcg *group;

	(void)state;
	assert_int_equal(umemcg_create(top, NULL, &group), 0);
	while (cache->nr_bytes < MAX)
		assert_int_equal(cache_add(cache, OBJECT), 0);
	/* All that the cache has can be had, to the last object. */
	for (uint64_t sum = 0; sum < MAX; sum += 64 * KIB)
		assert_int_equal(umemcg_try_charge(group, 64 * KIB), 0);
	assert_int_equal(cache->nr_bytes, 0);
	assert_int_equal(event_of(top, "oom"), 0);
	assert_true(event_of(top, "max") > 0);
	assert_int_equal(umemcg_try_charge(group, 1), -ENOMEM);
	assert_int_equal(event_of(top, "oom"), 1);
	assert_int_equal(umemcg_last_failure(&failure), 0);
	assert_int_equal(failure.nr_bytes_asked, 1);
	umemcg_uncharge(group, MAX);
	assert_int_equal(umemcg_destroy(group), 0);
}

static void what_can_never_fit_flushes_no_cache(void **state)
{
	struct cache *cache = add_cache(top);

	(void)state;
	assert_int_equal(cache_add(cache, MIB), 0);
	assert_int_equal(umemcg_try_charge(top, MAX + 1), -ENOMEM);
	assert_int_equal(cache->nr_bytes, MIB);
}

static void what_is_protected_and_quiet_is_left_alone(void **state)
{
	struct cache *quiet = add_cache(top), *hog = add_cache(top);

	(void)state;
	assert_int_equal(umemcg_set_min(quiet->group, 2 * MIB), 0);
	assert_int_equal(cache_add(quiet, 2 * MIB), 0);
	for (unsigned int i = 0; i < 2 * MAX / OBJECT; i++)
		assert_int_equal(cache_add(hog, OBJECT), 0);
	assert_int_equal(quiet->nr_bytes, 2 * MIB);
	assert_int_equal(quiet->nr_scans, 0);
	assert_true(hog->nr_bytes >= MAX - 2 * MIB - MIB);
	/* What its own limit asks of it, it gives. */
	assert_int_equal(umemcg_reclaim(quiet->group, MIB), 0);
	assert_true(quiet->nr_bytes <= MIB);
}

static void low_is_taken_when_there_is_nothing_else_and_told(void **state)
{
	struct cache *cache = add_cache(top);

	(void)state;
	assert_int_equal(umemcg_set_low(cache->group, MAX), 0);
	assert_int_equal(cache_add(cache, MAX), 0);
	assert_int_equal(event_of(cache->group, "low"), 0);
	assert_int_equal(cache_add(cache, OBJECT), 0);
	assert_true(event_of(cache->group, "low") > 0);
	assert_true(umemcg_get_current(top) <= MAX);
}

static void min_is_never_taken(void **state)
{
	struct cache *cache = add_cache(top);

	(void)state;
	assert_int_equal(umemcg_set_min(cache->group, MAX), 0);
	assert_int_equal(cache_add(cache, MAX), 0);
	assert_int_equal(cache_add(cache, OBJECT), -ENOMEM);
	assert_int_equal(umemcg_reclaim(top, OBJECT), -EAGAIN);
	assert_int_equal(cache->nr_bytes, MAX);
}

static void lowering_max_reclaims_down_to_it(void **state)
{
	struct cache *cache = add_cache(top);

	(void)state;
	assert_int_equal(cache_add(cache, 8 * MIB), 0);
	assert_int_equal(umemcg_try_charge(cache->group, MIB), 0);
	assert_int_equal(umemcg_set_max(top, 3 * MIB), 0);
	assert_true(umemcg_get_current(top) <= 3 * MIB);
	assert_true(cache->nr_bytes > MIB);
	assert_int_equal(umemcg_write(top, "memory.max", "2M"), 0);
	assert_true(umemcg_get_current(top) <= 2 * MIB);
	assert_int_equal(umemcg_set_max(top, MIB / 2), -EBUSY);
	assert_int_equal(cache->nr_bytes, 0);
	assert_int_equal(umemcg_get_max(top), MIB / 2);
	umemcg_uncharge(cache->group, MIB);
}

static void memory_reclaim_says_whether_it_was_enough(void **state)
{
	struct cache *cache = add_cache(top);
	char text[16];

	(void)state;
	assert_int_equal(cache_add(cache, 4 * MIB), 0);
	assert_int_equal(umemcg_write(top, "memory.reclaim", "1M"), 0);
	assert_true(cache->nr_bytes <= 3 * MIB && cache->nr_bytes > 2 * MIB);
	assert_int_equal(umemcg_reclaim(NULL, MIB), 0);
	assert_int_equal(umemcg_write(cache->group, "memory.reclaim", "8M"), -EAGAIN);
	assert_int_equal(cache->nr_bytes, 0);
	assert_int_equal(umemcg_reclaim(top, 1), -EAGAIN);
	assert_int_equal(umemcg_reclaim(top, 0), 0);
	assert_int_equal(umemcg_write(top, "memory.reclaim", "some"), -EINVAL);
	assert_int_equal(umemcg_read(top, "memory.reclaim", text, sizeof(text)), -EACCES);
}

/* Each call has half a second, which a busy machine may take: some of them come to it. */
static void what_is_asked_for_is_reclaimed_however_short_charges_wait(void **state)
{
	struct cache *cache = add_cache(top);

	(void)state;
	assert_int_equal(cache_add(cache, 8 * MIB), 0);
	umemcg_set_reclaim_timeout(0);
	assert_int_equal(umemcg_try_charge(top, MAX - MIB), -ENOMEM);
	assert_int_equal(cache->nr_bytes, 8 * MIB);
	for (unsigned int i = 0; i < 20 && cache->nr_bytes > 7 * MIB; i++)
		umemcg_reclaim(top, MIB);
	assert_in_range(cache->nr_bytes, MIB, 7 * MIB);
	for (unsigned int i = 0; i < 20 && umemcg_get_current(top) > MIB; i++)
		umemcg_set_max(top, MIB);
	assert_in_range(umemcg_get_current(top), 0, MIB);
}

/* ---- every call that charges ---- */

static void *do_nothing(void *arg)
{
	return arg;
}

static bool call_thread(void)
{
	pthread_t thread;

	if (umemcg_thread_create(&thread, NULL, do_nothing, NULL))
		return false;
	return !pthread_join(thread, NULL);
}

static bool call_recharge(void *object)
{
	int r = umemcg_recharge(object, top);

	umemcg_recharge(object, NULL);
	return !r;
}

static bool call_map(void)
{
	void *region;

	if (umemcg_map(top, 256 * KIB, &region))
		return false;
	return !umemcg_unmap(region);
}

static bool call_stack(void)
{
	void *stack;

	if (umemcg_stack_alloc(256 * KIB, &stack))
		return false;
	umemcg_stack_free(stack);
	return true;
}

static bool call_cache(void)
{
	struct umemcg_cache *cache;
	void *object;

	if (umemcg_cache_create("test", 8000, 0, NULL, &cache))
		return false;
	object = umemcg_cache_alloc(cache);
	umemcg_cache_free(cache, object);
	return object && !umemcg_cache_destroy(cache);
}

static bool gets(void *object)
{
	umemcg_free(object);
	return object;
}

static void every_call_that_charges_makes_room_first(void **state)
{
	struct cache *cache = add_cache(top);
	void *object = umemcg_malloc(4000), *grown;
	void *large = umemcg_malloc(200 * KIB);

	(void)state;
	umemcg_enter(top);
	for (unsigned int call = 0; call < 11; call++) {
		bool fits = false;

		/* Stocks are given back, or they would do for some of it. */
		while (cache->nr_bytes < MAX && !cache_add(cache, OBJECT))
			umemcg_drain(top);
		switch (call) {
		case 0:
			fits = gets(umemcg_malloc(5000));
			break;
		case 1:
			fits = gets(umemcg_malloc(MIB));
			break;
		case 2:
			fits = gets(umemcg_calloc(3, 30000));
			break;
		case 3:
			fits = gets(umemcg_aligned_alloc(1 << 16, 300000));
			break;
		case 4:
			fits = gets(umemcg_malloc_in(top, 7000));
			break;
		case 5:
			fits = call_recharge(large);
			break;
		case 6:
			fits = call_map();
			break;
		case 7:
			fits = call_stack();
			break;
		case 8:
			fits = call_thread();
			break;
		case 9:
			fits = call_cache();
			break;
		case 10:
			umemcg_enter(top);
			grown = umemcg_malloc(6000);
			fits = grown;
			grown = umemcg_realloc(grown, 400 * KIB);
			fits &= gets(grown);
			break;
		}
		if (!fits)
			fail_msg("call %u was refused", call);
		assert_int_equal(event_of(top, "oom"), 0);
		assert_true(umemcg_get_current(top) <= MAX);
	}
	umemcg_enter(NULL);
	umemcg_free(object);
	umemcg_free(large);
}

#define test_in_group(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_in_group(siblings_shrink_as_the_formula_says),
		test_in_group(a_charge_fails_only_when_nothing_is_given_back),
		test_in_group(what_can_never_fit_flushes_no_cache),
		test_in_group(what_is_protected_and_quiet_is_left_alone),
		test_in_group(low_is_taken_when_there_is_nothing_else_and_told),
		test_in_group(min_is_never_taken),
		test_in_group(lowering_max_reclaims_down_to_it),
		test_in_group(memory_reclaim_says_whether_it_was_enough),
		test_in_group(what_is_asked_for_is_reclaimed_however_short_charges_wait),
		test_in_group(every_call_that_charges_makes_room_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
