/* SPDX-License-Identifier: MIT */
/*
 * Who pays under pressure: five groups with caches, and a parent that protects less than they do
 * together. An eighth of what is not protected is reclaimed from above, and what each group gave is
 * held against the formula: in proportion to its usage beyond its effective low. Usages and lows
 * are anew for each operation. A cache is explicit charges, so that its size is known to the byte.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <umemcg.h>

#include "workloads/workload.h"

#define NR_GROUPS    5
#define OBJECT_BYTES ((uint64_t)4096)
#define NR_MAX       4096 /* objects of a cache */

struct cache {
	struct umemcg *group;
	_Atomic uint64_t nr_bytes; /* relaxed: the thread that reclaims asks itself */
	uint64_t nr_bytes_low;
};

struct protect {
	struct umemcg *top, *parent;
	struct cache caches[NR_GROUPS];
	struct umemcg_shrinker *shrinkers[NR_GROUPS];
	double deviation; /* of a share, in parts of all that was reclaimed: the largest, summed up
			   */
	uint64_t nr_reclaims;
};

static uint64_t cache_bytes(const struct cache *cache)
{
	return atomic_load_explicit(&cache->nr_bytes, memory_order_relaxed);
}

static uint64_t cache_count(struct umemcg *group, void *arg)
{
	const struct cache *cache = arg;

	return cache->group == group ? cache_bytes(cache) : 0;
}

static uint64_t cache_scan(struct umemcg *group, uint64_t nr_bytes, void *arg)
{
	uint64_t nr_whole = (nr_bytes + OBJECT_BYTES - 1) / OBJECT_BYTES * OBJECT_BYTES;
	struct cache *cache = arg;

	if (cache->group != group)
		return 0;
	if (nr_whole > cache_bytes(cache))
		nr_whole = cache_bytes(cache);
	umemcg_uncharge(group, nr_whole);
	atomic_fetch_sub_explicit(&cache->nr_bytes, nr_whole, memory_order_relaxed);
	return nr_whole;
}

static const struct umemcg_shrinker_ops cache_ops = { .count = cache_count, .scan = cache_scan };

static int protect_setup(struct workload_context *context, struct workload_worker *worker)
{
	struct protect *protect = calloc(1, sizeof(*protect));
	int error;

	if (!protect)
		return workload_fail(worker, "calloc");
	context->data = protect;
	/* It is not to fail where the processor is busy with something else. */
	umemcg_set_reclaim_timeout(60000000);
	error = umemcg_create(umemcg_current(), NULL, &protect->top);
	if (!error)
		error = umemcg_create(protect->top, NULL, &protect->parent);
	for (unsigned int i = 0; i < NR_GROUPS && !error; i++) {
		struct cache *cache = &protect->caches[i];

		error = umemcg_create(protect->parent, NULL, &cache->group);
		if (!error)
			error = umemcg_shrinker_register(cache->group, &cache_ops, cache, 0,
							 &protect->shrinkers[i]);
	}
	if (error)
		worker->failed = "five groups with a cache each";
	return error;
}

/* A new size for each cache, and a low that is up to a quarter more than that. */
static int fill(struct protect *protect, struct workload_worker *worker, uint64_t *ret_low)
{
	uint64_t all_low = 0;
	int error = 0;

	for (unsigned int i = 0; i < NR_GROUPS && !error; i++) {
		struct cache *cache = &protect->caches[i];
		uint64_t nr = NR_MAX / 4 + workload_random(worker) % (NR_MAX / 4 * 3);

		umemcg_uncharge(cache->group, cache_bytes(cache));
		atomic_store_explicit(&cache->nr_bytes, 0, memory_order_relaxed);
		cache->nr_bytes_low = workload_random(worker) % (nr + nr / 4) * OBJECT_BYTES;
		error = umemcg_set_low(cache->group, cache->nr_bytes_low);
		if (!error)
			error = umemcg_try_charge(cache->group, nr * OBJECT_BYTES);
		if (error)
			break;
		atomic_store_explicit(&cache->nr_bytes, nr * OBJECT_BYTES, memory_order_relaxed);
		all_low += nr * OBJECT_BYTES < cache->nr_bytes_low ? nr * OBJECT_BYTES
								   : cache->nr_bytes_low;
	}
	*ret_low = all_low;
	return error ? error : umemcg_set_low(protect->parent, all_low / 2);
}

/* Usage beyond the effective low: the parent's, half of what they claim, shared out. */
static double unprotected(const struct cache *cache)
{
	double usage = (double)cache_bytes(cache), low = (double)cache->nr_bytes_low;

	return usage - (low < usage ? low : usage) / 2;
}

static int reclaim_once(struct protect *protect, struct workload_worker *worker)
{
	double expected[NR_GROUPS], before[NR_GROUPS], all = 0, taken = 0, worst = 0;
	uint64_t all_low;
	int error = fill(protect, worker, &all_low);

	if (error) {
		worker->failed = "umemcg_set_low or umemcg_try_charge";
		return error;
	}
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		before[i] = (double)cache_bytes(&protect->caches[i]);
		expected[i] = unprotected(&protect->caches[i]);
		all += expected[i];
	}
	error = umemcg_reclaim(protect->top, (uint64_t)(all / 8));
	if (error) {
		worker->failed = "umemcg_reclaim";
		return error;
	}
	for (unsigned int i = 0; i < NR_GROUPS; i++)
		taken += before[i] - (double)cache_bytes(&protect->caches[i]);
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		double share = before[i] - (double)cache_bytes(&protect->caches[i]);
		double apart = share / taken - expected[i] / all;

		apart = apart < 0 ? -apart : apart;
		worst = apart > worst ? apart : worst;
	}
	protect->deviation += worst;
	protect->nr_reclaims++;
	return 0;
}

static int protect_run(struct workload_context *context, struct workload_worker *worker,
		       uint64_t nr_operations)
{
	int error = 0;

	worker->nr_units += nr_operations;
	/* There is no pressure where nothing is counted. */
	if (umemcg_state() != UMEMCG_ENABLED)
		return 0;
	for (; nr_operations > 0 && !error; nr_operations--)
		error = reclaim_once(context->data, worker);
	return error;
}

static int protect_report(struct workload_context *context, struct workload_totals *totals)
{
	const struct protect *protect = context->data;

	totals->measured[0] = totals->measured[1] = -1;
	if (!protect->nr_reclaims)
		return 0;
	totals->measured[0] = 100 * protect->deviation / (double)protect->nr_reclaims;
	totals->measured[1] = workload_us_per_unit(totals);
	return 0;
}

static void protect_teardown(struct workload_context *context)
{
	struct protect *protect = context->data;

	if (!protect)
		return;
	for (unsigned int i = 0; i < NR_GROUPS; i++) {
		struct cache *cache = &protect->caches[i];

		umemcg_shrinker_unregister(protect->shrinkers[i]);
		umemcg_uncharge(cache->group, cache_bytes(cache));
		if (cache->group && cache->group != umemcg_root())
			umemcg_destroy(cache->group);
	}
	if (protect->parent && protect->parent != umemcg_root())
		umemcg_destroy(protect->parent);
	if (protect->top && protect->top != umemcg_root())
		umemcg_destroy(protect->top);
	free(protect);
}

static double deviation(const struct workload_totals *totals)
{
	return totals->measured[0];
}

static double reclaim_us(const struct workload_totals *totals)
{
	return totals->measured[1];
}

const struct workload workload_protect = {
	.name = "protect",
	.description = "reclaim from five groups with different low, shares against the formula",
	.title = { [WORKLOAD_LIB] = "protect, shares of five groups (lib)" },
	.why_not = { [WORKLOAD_KERNEL] =
			     "the kernel's shares depend on its lists and what else is in them" },
	.workers = WORKLOAD_ALONE,
	.metrics = {
		{ "largest deviation", "% of what is reclaimed", WORKLOAD_LOWER, deviation },
		{ "time per reclaim", "us", WORKLOAD_LOWER, reclaim_us },
	},
	.max_operations = 20000,
	.makes_groups_at_root = true,
	.setup = protect_setup,
	.run = protect_run,
	.report = protect_report,
	.teardown = protect_teardown,
};
