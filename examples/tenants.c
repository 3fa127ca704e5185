/* SPDX-License-Identifier: MIT */
/*
 * A server with a group for each tenant. One tenant is greedy: its requests are refused at its own
 * limit, with ENOMEM, and the server says so. The others are served as if it were not there.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umemcg.h"

#define NR_TENANTS          4
#define GREEDY              2
#define NR_REQUESTS         2000
#define TENANT_MAX_BYTES    ((uint64_t)8 << 20)
#define NR_RECORDS          64
#define RECORD_BYTES        1000
#define GREEDY_RECORD_BYTES (256 << 10)

struct tenant {
	char name[16];
	struct umemcg *group;
	bool is_greedy;
	unsigned int nr_served;
	unsigned int nr_refused;
	struct umemcg_failure failure; /* the first one */
};

/* A request: build records, use them, drop them. A greedy tenant asks for far too much. */
static int serve(const struct tenant *tenant)
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

static int create_tenant(struct tenant *tenant, int number)
{
	int r;

	snprintf(tenant->name, sizeof(tenant->name), "tenant-%d", number);
	tenant->is_greedy = number == GREEDY;
	r = umemcg_create(NULL, tenant->name, &tenant->group);
	return r ? r : umemcg_set_max(tenant->group, TENANT_MAX_BYTES);
}

static void print_tenant(const struct tenant *tenant)
{
	printf("%s: %u served, %u refused, peak %llu of %llu bytes\n", tenant->name,
	       tenant->nr_served, tenant->nr_refused,
	       (unsigned long long)umemcg_get_peak(tenant->group),
	       (unsigned long long)umemcg_get_max(tenant->group));
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
		return tenant->nr_refused == NR_REQUESTS &&
		       !strcmp(tenant->failure.group, "/tenant-2");
	return tenant->nr_served == NR_REQUESTS;
}

/* The end of a tenant: nothing may be left of it. */
static bool leaves_nothing(const struct tenant *tenant)
{
	umemcg_drain(tenant->group);
	return umemcg_get_current(tenant->group) == 0 && umemcg_destroy(tenant->group) == 0;
}

int main(void)
{
	struct tenant tenants[NR_TENANTS] = { 0 };
	pthread_t workers[NR_TENANTS];
	bool kept = true;

	for (int i = 0; i < NR_TENANTS; i++) {
		if (create_tenant(&tenants[i], i) ||
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
	if (!kept)
		puts("FAILED: it was not as promised.");
	else if (umemcg_state() == UMEMCG_ENABLED)
		puts("The greedy tenant was refused, the others never noticed.");
	else
		puts("Accounting is off: all were served, the greedy one too.");
	return kept ? EXIT_SUCCESS : EXIT_FAILURE;
}
