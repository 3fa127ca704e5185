/* SPDX-License-Identifier: MIT */
/*
 * A server with a group for each tenant, and a cache in each. One tenant is greedy: it is slowed
 * down above its high, and then its requests are refused at its own limit, with ENOMEM, and the
 * server says so. The others are served as if it were not there: the server's limit takes from
 * their caches, but nothing of what is protected.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umemcg.h"

#define NR_TENANTS          4
#define GREEDY              2
#define NR_REQUESTS         2000
#define SERVER_MAX_BYTES    ((uint64_t)16 << 20)
#define TENANT_HIGH_BYTES   ((uint64_t)7 << 20)
#define TENANT_MAX_BYTES    ((uint64_t)8 << 20)
#define CACHE_BYTES         ((uint64_t)3 << 20)
#define PROTECTED_BYTES     ((uint64_t)2 << 20)
#define NR_RECORDS          64
#define RECORD_BYTES        1000
#define GREEDY_RECORD_BYTES (256 << 10)

struct tenant {
	char name[16];
	struct umemcg *group;
	bool is_greedy;
	struct umemcg_shrinker *shrinker;
	_Atomic uint64_t nr_bytes_cached; /* stands for a cache; charged as memory from elsewhere */
	uint64_t nr_us_throttled;
	unsigned int nr_served;
	unsigned int nr_refused;
	struct umemcg_failure failure; /* the first one */
};

static uint64_t count_cache(struct umemcg *group, void *arg)
{
	struct tenant *tenant = arg;

	return group == tenant->group ? atomic_load(&tenant->nr_bytes_cached) : 0;
}

/* Called by whichever thread is short of memory. */
static uint64_t shrink_cache(struct umemcg *group, uint64_t nr_bytes, void *arg)
{
	struct tenant *tenant = arg;
	uint64_t cached = count_cache(group, tenant), nr_dropped;

	do {
		nr_dropped = cached < nr_bytes ? cached : nr_bytes;
	} while (!atomic_compare_exchange_weak(&tenant->nr_bytes_cached, &cached,
					       cached - nr_dropped));
	umemcg_uncharge(group, nr_dropped);
	return nr_dropped;
}

static int fill_cache(struct tenant *tenant)
{
	int r = umemcg_try_charge(tenant->group, CACHE_BYTES);

	if (!r)
		atomic_store(&tenant->nr_bytes_cached, CACHE_BYTES);
	return r;
}

/* A request: build records, use them, drop them. A greedy tenant asks for far too much. */
static int serve(struct tenant *tenant)
{
	size_t record_bytes = tenant->is_greedy ? GREEDY_RECORD_BYTES : RECORD_BYTES;
	char *records[NR_RECORDS];
	int r = 0;
	int nr;

	for (nr = 0; nr < NR_RECORDS; nr++) {
		records[nr] = umemcg_malloc(record_bytes);
		if (!records[nr]) {
			r = -ENOMEM;
			break;
		}
		memset(records[nr], nr, record_bytes);
		/* A server waits where it holds no lock. This one has seen enough once it did. */
		if (!tenant->nr_us_throttled)
			tenant->nr_us_throttled = umemcg_throttle();
	}
	while (nr > 0)
		umemcg_free(records[--nr]);
	return r;
}

/* A worker serves one tenant's requests; a real one would enter another group for each request. */
static void *work(void *arg)
{
	struct tenant *tenant = arg;

	for (int i = 0; i < NR_REQUESTS; i++) {
		struct umemcg *before = umemcg_enter(tenant->group);

		if (!serve(tenant))
			tenant->nr_served++;
		else if (!tenant->nr_refused++)
			umemcg_last_failure(&tenant->failure);
		umemcg_enter(before);
	}
	return NULL;
}

static int create_tenant(struct umemcg *server, struct tenant *tenant, int number)
{
	static const struct umemcg_shrinker_ops cache = { count_cache, shrink_cache };
	int r;

	snprintf(tenant->name, sizeof(tenant->name), "tenant-%d", number);
	tenant->is_greedy = number == GREEDY;
	r = umemcg_create(server, tenant->name, &tenant->group);
	if (r)
		return r;
	umemcg_set_high(tenant->group, TENANT_HIGH_BYTES);
	r = umemcg_set_max(tenant->group, TENANT_MAX_BYTES);
	if (r || tenant->is_greedy)
		return r;
	r = umemcg_set_min(tenant->group, PROTECTED_BYTES);
	if (!r)
		r = umemcg_shrinker_register(tenant->group, &cache, tenant, 0, &tenant->shrinker);
	return r ? r : fill_cache(tenant);
}

static void print_tenant(const struct tenant *tenant)
{
	printf("%s: %u served, %u refused, peak %llu of %llu bytes\n", tenant->name,
	       tenant->nr_served, tenant->nr_refused,
	       (unsigned long long)umemcg_get_peak(tenant->group),
	       (unsigned long long)umemcg_get_max(tenant->group));
	if (tenant->is_greedy)
		printf("  throttled for %llu us\n", (unsigned long long)tenant->nr_us_throttled);
	else
		printf("  %llu bytes of its cache are left\n",
		       (unsigned long long)atomic_load(&tenant->nr_bytes_cached));
	if (tenant->nr_refused)
		printf("  first refusal: %llu bytes did not fit into %s, at %llu of %llu bytes\n",
		       (unsigned long long)tenant->failure.nr_bytes_asked, tenant->failure.group,
		       (unsigned long long)tenant->failure.nr_bytes_current,
		       (unsigned long long)tenant->failure.nr_bytes_max);
}

/* What the library promises: the greedy one is stopped at its limit, the others lose nothing. */
static bool is_as_promised(const struct tenant *tenant)
{
	if (umemcg_state() != UMEMCG_ENABLED)
		return tenant->nr_served == NR_REQUESTS;
	if (umemcg_get_peak(tenant->group) > TENANT_MAX_BYTES)
		return false;
	if (tenant->is_greedy)
		return tenant->nr_refused == NR_REQUESTS && tenant->nr_us_throttled &&
		       !strcmp(tenant->failure.group, "/server/tenant-2");
	return tenant->nr_served == NR_REQUESTS && !tenant->nr_us_throttled &&
	       tenant->nr_bytes_cached + NR_RECORDS * 1024 >= PROTECTED_BYTES;
}

/* The end of a tenant: nothing may be left of it. */
static bool leaves_nothing(struct tenant *tenant)
{
	umemcg_shrinker_unregister(tenant->shrinker);
	umemcg_uncharge(tenant->group, atomic_load(&tenant->nr_bytes_cached));
	umemcg_drain(tenant->group);
	return umemcg_get_current(tenant->group) == 0 && umemcg_destroy(tenant->group) == 0;
}

int main(void)
{
	struct tenant tenants[NR_TENANTS] = { 0 };
	pthread_t workers[NR_TENANTS];
	struct umemcg *server;
	bool kept = true;

	if (umemcg_create(NULL, "server", &server) || umemcg_set_max(server, SERVER_MAX_BYTES)) {
		fprintf(stderr, "tenants: no memory to begin with\n");
		return EXIT_FAILURE;
	}
	/* A machine that is busy with other things is no reason to refuse anything. */
	umemcg_set_reclaim_timeout(10000000);
	/* As the kernel's: what is protected below counts within what is protected here. */
	umemcg_set_min(server, SERVER_MAX_BYTES);
	for (int i = 0; i < NR_TENANTS; i++) {
		if (create_tenant(server, &tenants[i], i) ||
		    umemcg_thread_create(&workers[i], NULL, work, &tenants[i])) {
			fprintf(stderr, "tenants: no memory to begin with\n");
			return EXIT_FAILURE;
		}
	}
	for (int i = 0; i < NR_TENANTS; i++)
		pthread_join(workers[i], NULL);
	for (int i = 0; i < NR_TENANTS; i++) {
		print_tenant(&tenants[i]);
		kept &= is_as_promised(&tenants[i]);
		kept &= leaves_nothing(&tenants[i]);
	}
	kept &= umemcg_destroy(server) == 0;
	if (!kept)
		puts("FAILED: it was not as promised.");
	else if (umemcg_state() == UMEMCG_ENABLED)
		puts("The greedy tenant was refused, the others never noticed.");
	else
		puts("Accounting is off: all were served, the greedy one too.");
	return kept ? EXIT_SUCCESS : EXIT_FAILURE;
}
