/* SPDX-License-Identifier: MIT */
/*
 * A hog and nine quiet tenants with caches, below a limit that is too small for what all of
 * them would like to have. The hog is slowed down at its high and refused at its max. The quiet
 * ones lose what they have beyond their protection, never what is protected, and none of their
 * allocations fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventfd.h"
#include "umemcg.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

/*
 * Together they want 32 + 9 * (4 + 1/4) MiB, and are sure of 32 + 9 * 2 MiB: the server's limit is
 * little more than that.
 */
#define SERVER_MAX  (54 * MIB)
#define HOG_HIGH    (16 * MIB)
#define HOG_MAX     (32 * MIB)
#define HOG_BYTES   (64 * KIB)
#define NR_QUIET    9
#define PROTECTED   (2 * MIB)
#define CACHE_BYTES (4 * MIB)
#define ENTRY_BYTES (4 * KIB)
#define WORK_BYTES  (256 * KIB)
#define NR_REQUESTS 60
#define REQUEST     (8 * KIB)

/* For threads as well, in which cmocka's assertions may not fail. */
#define check(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* An allocation of a quiet tenant, none of which may fail. */
static void *allocate(uint64_t nr_bytes)
{
	void *object = umemcg_malloc(nr_bytes);
	struct umemcg_failure failure;

	if (!object && !umemcg_last_failure(&failure))
		fprintf(stderr,
			"%s: %" PRIu64 " bytes refused by %s at %" PRIu64 " of %" PRIu64 "\n",
			failure.charged, failure.nr_bytes_asked, failure.group,
			failure.nr_bytes_current, failure.nr_bytes_max);
	check(object);
	return object;
}

/* What a tenant keeps to be quick, charged to it; the rest of @bytes is data. */
struct entry {
	struct entry *next, **link;
	struct tenant *tenant;
	struct umemcg_lru_entry *lru_entry;
};

struct tenant {
	struct umemcg *group;
	pthread_t thread;
	pthread_mutex_t
		lock; /* of the cache; who has it allocates nothing, so it may be waited for */
	struct entry *entries;
	_Atomic uint64_t nr_bytes; /* in the cache */
	uint64_t nr_bytes_least;   /* once it was full */
	bool was_full;
	bool uses_lru;
	unsigned int seed;
	_Atomic unsigned int nr_evicted;
};

static struct umemcg *server, *hog;
static struct tenant tenants[NR_QUIET];
static struct umemcg_lru *lru;
static atomic_bool is_hog_refused;
static _Atomic unsigned int nr_full;

/* ---- caches ---- */

static struct entry *add_entry(struct tenant *tenant)
{
	struct entry *entry = allocate(ENTRY_BYTES);

	memset(entry, 0, ENTRY_BYTES);
	entry->tenant = tenant;
	pthread_mutex_lock(&tenant->lock);
	if (tenant->uses_lru)
		check(!umemcg_lru_add(lru, tenant->group, entry, umemcg_usable_size(entry),
				      &entry->lru_entry));
	entry->next = tenant->entries;
	entry->link = &tenant->entries;
	if (entry->next)
		entry->next->link = &entry->next;
	tenant->entries = entry;
	atomic_fetch_add(&tenant->nr_bytes, umemcg_usable_size(entry));
	pthread_mutex_unlock(&tenant->lock);
	return entry;
}

/* Locked. */
static uint64_t drop_entry(struct entry *entry)
{
	struct tenant *tenant = entry->tenant;
	uint64_t nr_bytes = umemcg_usable_size(entry);
	uint64_t left = atomic_fetch_sub(&tenant->nr_bytes, nr_bytes) - nr_bytes;

	*entry->link = entry->next;
	if (entry->next)
		entry->next->link = entry->link;
	umemcg_free(entry);
	if (tenant->was_full && left < tenant->nr_bytes_least)
		tenant->nr_bytes_least = left;
	return nr_bytes;
}

static enum umemcg_lru_status evict(void *object, void *arg)
{
	struct entry *entry = object;
	struct tenant *tenant = entry->tenant;

	(void)arg;
	pthread_mutex_lock(&tenant->lock);
	drop_entry(entry);
	atomic_fetch_add(&tenant->nr_evicted, 1);
	pthread_mutex_unlock(&tenant->lock);
	return UMEMCG_LRU_REMOVED;
}

static uint64_t count_cache(struct umemcg *group, void *arg)
{
	struct tenant *tenant = arg;

	return group == tenant->group ? atomic_load(&tenant->nr_bytes) : 0;
}

static uint64_t shrink_cache(struct umemcg *group, uint64_t nr_bytes, void *arg)
{
	struct tenant *tenant = arg;
	uint64_t nr_dropped = 0;

	if (group != tenant->group)
		return 0;
	pthread_mutex_lock(&tenant->lock);
	while (tenant->entries && nr_dropped < nr_bytes) {
		nr_dropped += drop_entry(tenant->entries);
		atomic_fetch_add(&tenant->nr_evicted, 1);
	}
	pthread_mutex_unlock(&tenant->lock);
	return nr_dropped;
}

static void drop_cache(struct tenant *tenant)
{
	pthread_mutex_lock(&tenant->lock);
	tenant->was_full = false;
	while (tenant->entries) {
		if (tenant->uses_lru)
			check(!umemcg_lru_remove(tenant->entries->lru_entry));
		drop_entry(tenant->entries);
	}
	pthread_mutex_unlock(&tenant->lock);
}

/* ---- the quiet ones ---- */

static void fill_cache(struct tenant *tenant)
{
	while (atomic_load(&tenant->nr_bytes) < CACHE_BYTES)
		add_entry(tenant);
}

static void serve_request(struct tenant *tenant)
{
	void *objects[WORK_BYTES / REQUEST];
	unsigned int nr = 1 + (unsigned int)rand_r(&tenant->seed) % (WORK_BYTES / REQUEST);

	for (unsigned int i = 0; i < nr; i++) {
		objects[i] = allocate(REQUEST);
		memset(objects[i], 1, REQUEST);
	}
	/* It was looked up in vain, and is kept from now on. */
	for (unsigned int i = 0; i < 4 && atomic_load(&tenant->nr_bytes) < CACHE_BYTES; i++)
		add_entry(tenant);
	for (unsigned int i = 0; i < nr; i++)
		umemcg_free(objects[i]);
}

static void *be_quiet(void *arg)
{
	struct tenant *tenant = arg;
	unsigned int nr_left = NR_REQUESTS;

	umemcg_enter(tenant->group);
	fill_cache(tenant);
	pthread_mutex_lock(&tenant->lock);
	tenant->was_full = true;
	tenant->nr_bytes_least = atomic_load(&tenant->nr_bytes);
	pthread_mutex_unlock(&tenant->lock);
	atomic_fetch_add(&nr_full, 1);
	while (nr_left) {
		serve_request(tenant);
		check(umemcg_throttle() == 0);
		/* At least so many once the hog has got all that it may have. */
		nr_left -= atomic_load(&is_hog_refused);
	}
	umemcg_enter(NULL);
	return NULL;
}

/* ---- the hog ---- */

struct chunk {
	struct chunk *next;
};

struct hog {
	struct chunk *chunks;
	uint64_t waited_us;
	uint64_t nr_bytes_at_wait;
	struct umemcg_failure failure;
};

static void *take_all(void *arg)
{
	struct hog *it = arg;
	struct chunk *chunk;

	while (atomic_load(&nr_full) < NR_QUIET)
		usleep(100);
	umemcg_enter(hog);
	while ((chunk = umemcg_malloc(HOG_BYTES))) {
		memset(chunk, 1, HOG_BYTES);
		chunk->next = it->chunks;
		it->chunks = chunk;
		/* It waits where it is asked to, until it has seen that; then it goes on taking. */
		if (!it->waited_us) {
			it->waited_us = umemcg_throttle();
			it->nr_bytes_at_wait = umemcg_get_current(hog);
		}
	}
	check(!umemcg_last_failure(&it->failure));
	atomic_store(&is_hog_refused, true);
	umemcg_enter(NULL);
	return NULL;
}

static void free_chunks(struct hog *it)
{
	while (it->chunks) {
		struct chunk *next = it->chunks->next;

		umemcg_free(it->chunks);
		it->chunks = next;
	}
}

/* ---- all together ---- */

static uint64_t event(struct umemcg *group, const char *name)
{
	char text[512], key[32];
	const char *line;

	assert_true(umemcg_read(group, "memory.events", text, sizeof(text)) > 0);
	snprintf(key, sizeof(key), "%s ", name);
	for (line = text; strncmp(line, key, strlen(key)); line = strchr(line, '\n') + 1)
		assert_non_null(strchr(line, '\n'));
	return strtoull(line + strlen(key), NULL, 10);
}

static const struct umemcg_shrinker_ops cache_ops = { count_cache, shrink_cache };

static void create_tenant(struct tenant *tenant, unsigned int number,
			  struct umemcg_shrinker **ret_shrinker)
{
	char name[16];

	snprintf(name, sizeof(name), "quiet-%u", number);
	tenant->seed = number;
	tenant->uses_lru = number % 2;
	pthread_mutex_init(&tenant->lock, NULL);
	assert_int_equal(umemcg_create(server, name, &tenant->group), 0);
	if (number % 3)
		assert_int_equal(umemcg_set_min(tenant->group, PROTECTED), 0);
	else
		assert_int_equal(umemcg_set_low(tenant->group, PROTECTED), 0);
	if (!tenant->uses_lru)
		assert_int_equal(umemcg_shrinker_register(tenant->group, &cache_ops, tenant, 0,
							  ret_shrinker),
				 0);
}

static void destroy_tenant(struct tenant *tenant, struct umemcg_shrinker *shrinker)
{
	umemcg_shrinker_unregister(shrinker);
	drop_cache(tenant);
	assert_int_equal(umemcg_destroy(tenant->group), 0);
	pthread_mutex_destroy(&tenant->lock);
}

static void the_hog_is_throttled_and_refused_and_nobody_else_notices(void **state)
{
	struct umemcg_shrinker *shrinkers[NR_QUIET] = { NULL };
	unsigned int nr_evicted = 0;
	struct hog it = { .chunks = NULL };
	pthread_t hog_thread;
	int highs;

	(void)state;
	/* Not the machine's: who does not get to run for long is not refused for it. */
	umemcg_set_reclaim_timeout(60000000);
	assert_int_equal(umemcg_create(NULL, "server", &server), 0);
	assert_int_equal(umemcg_set_max(server, SERVER_MAX), 0);
	assert_int_equal(umemcg_set_min(server, SERVER_MAX), 0);
	assert_int_equal(umemcg_set_low(server, SERVER_MAX), 0);
	assert_int_equal(umemcg_create(server, "hog", &hog), 0);
	assert_int_equal(umemcg_set_high(hog, HOG_HIGH), 0);
	assert_int_equal(umemcg_set_max(hog, HOG_MAX), 0);
	assert_int_equal(umemcg_event_subscribe(hog, 1u << UMEMCG_EVENT_HIGH, &highs), 0);
	assert_int_equal(umemcg_lru_create(evict, NULL, &lru), 0);
	for (unsigned int i = 0; i < NR_QUIET; i++)
		create_tenant(&tenants[i], i, &shrinkers[i]);

	assert_int_equal(pthread_create(&hog_thread, NULL, take_all, &it), 0);
	for (unsigned int i = 0; i < NR_QUIET; i++)
		assert_int_equal(pthread_create(&tenants[i].thread, NULL, be_quiet, &tenants[i]),
				 0);
	assert_int_equal(pthread_join(hog_thread, NULL), 0);
	for (unsigned int i = 0; i < NR_QUIET; i++)
		assert_int_equal(pthread_join(tenants[i].thread, NULL), 0);

	/* The hog was slowed down above its high, and not before; and refused at its own max. */
	assert_true(it.waited_us > 0);
	assert_in_range(it.nr_bytes_at_wait, HOG_HIGH, HOG_HIGH + MIB);
	assert_true(event(hog, "high") > 0);
	assert_true(eventfd_wait(highs) > 0);
	assert_string_equal(it.failure.group, "/server/hog");
	assert_true(umemcg_get_current(hog) > HOG_MAX - 2 * HOG_BYTES);
	assert_int_equal(event(hog, "oom"), 1);

	/* Nobody else was refused; some gave something, and nobody what is protected. */
	assert_int_equal(event(server, "oom"), 1);
	assert_true(umemcg_get_peak(server) <= SERVER_MAX);
	for (unsigned int i = 0; i < NR_QUIET; i++) {
		assert_int_equal(event(tenants[i].group, "oom"), 0);
		assert_int_equal(event(tenants[i].group, "high"), 0);
		assert_int_equal(event(tenants[i].group, "low"), 0);
		/* The work in hand is part of the usage that is protected. */
		assert_true(tenants[i].nr_bytes_least >= PROTECTED - WORK_BYTES);
		nr_evicted += atomic_load(&tenants[i].nr_evicted);
	}
	assert_true(nr_evicted > 0);

	free_chunks(&it);
	for (unsigned int i = 0; i < NR_QUIET; i++)
		destroy_tenant(&tenants[i], shrinkers[i]);
	assert_int_equal(umemcg_lru_destroy(lru), 0);
	assert_int_equal(umemcg_event_unsubscribe(highs), 0);
	assert_int_equal(umemcg_destroy(hog), 0);
	umemcg_drain(server);
	assert_int_equal(umemcg_get_current(server), 0);
	assert_int_equal(umemcg_destroy(server), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hog_is_throttled_and_refused_and_nobody_else_notices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
