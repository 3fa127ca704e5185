/* SPDX-License-Identifier: MIT */
/*
 * At the limit: how far usage ever gets above max, how many requests are refused that would have
 * fitted, and how long a refusal takes beside very many siblings.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "probe.h"

enum { NR_THREADS = 4, OBJECT_BYTES = 64, NR_OBJECTS_MAX = 20000, NR_REFUSALS = 1001 };

struct filler {
	struct umemcg *group;
	uint64_t nr_objects;
	void *objects[NR_OBJECTS_MAX];
};

static struct filler fillers[NR_THREADS];
static pthread_barrier_t gate;

static void *fill(void *arg)
{
	struct filler *filler = arg;

	umemcg_enter(filler->group);
	pthread_barrier_wait(&gate);
	while (filler->nr_objects < NR_OBJECTS_MAX) {
		void *object = umemcg_malloc(OBJECT_BYTES);

		if (!object)
			break;
		filler->objects[filler->nr_objects++] = object;
	}
	return NULL;
}

/* A thread of its own watches usage all the while. */
struct watcher {
	struct umemcg *group;
	uint64_t max, most;
	_Atomic bool done;
};

static void *watch(void *arg)
{
	struct watcher *watcher = arg;

	/* Relaxed: only the end is told this way, and the join orders the rest. */
	while (!atomic_load_explicit(&watcher->done, memory_order_relaxed)) {
		uint64_t current = umemcg_get_current(watcher->group);

		if (current > watcher->most)
			watcher->most = current;
	}
	return NULL;
}

/* Fills the group once from all threads; returns how many objects fitted. */
static uint64_t fill_once(struct umemcg *group)
{
	pthread_t threads[NR_THREADS];
	uint64_t nr_objects = 0;

	for (unsigned int i = 0; i < NR_THREADS; i++) {
		fillers[i].group = group;
		fillers[i].nr_objects = 0;
		probe_expect(!pthread_create(&threads[i], NULL, fill, &fillers[i]),
			     "a thread could not be created");
	}
	for (unsigned int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned int i = 0; i < NR_THREADS; i++) {
		nr_objects += fillers[i].nr_objects;
		while (fillers[i].nr_objects > 0)
			umemcg_free(fillers[i].objects[--fillers[i].nr_objects]);
	}
	return nr_objects;
}

static uint64_t charged_size(void)
{
	void *object = umemcg_malloc(OBJECT_BYTES);
	uint64_t nr_bytes = umemcg_usable_size(object);

	umemcg_free(object);
	return nr_bytes;
}

/* The limit lies at the parent, so that the whole path is in play; every round has another one. */
void probe_hammer(uint64_t duration_ms)
{
	struct umemcg *limited = probe_group(NULL, "limited", UMEMCG_MAX);
	struct umemcg *child = probe_group(limited, "child", UMEMCG_MAX);
	double start = probe_now_ns();
	uint64_t size = charged_size(), nr_rounds = 0, overshoot = 0, nr_false = 0;

	pthread_barrier_init(&gate, NULL, NR_THREADS);
	for (; probe_now_ns() - start < (double)duration_ms * 1e6; nr_rounds++) {
		struct watcher watcher = { .group = limited };
		pthread_t watching;
		uint64_t nr_objects;

		/* Not a multiple of the size: the rest may not be used either. */
		watcher.max = size * (100 + nr_rounds * 37 % 10000) + size / 3;
		umemcg_drain(limited);
		probe_expect(umemcg_set_max(limited, watcher.max) == 0,
			     "usage stayed in the group");
		probe_expect(!pthread_create(&watching, NULL, watch, &watcher),
			     "a thread could not be created");
		nr_objects = fill_once(child);
		atomic_store_explicit(&watcher.done, true, memory_order_relaxed);
		pthread_join(watching, NULL);
		if (nr_objects < watcher.max / size)
			nr_false += watcher.max / size - nr_objects;
		if (watcher.most > watcher.max && watcher.most - watcher.max > overshoot)
			overshoot = watcher.most - watcher.max;
		/* More objects than fit are an overshoot too, whatever the counters say. */
		if (nr_objects * size > watcher.max && nr_objects * size - watcher.max > overshoot)
			overshoot = nr_objects * size - watcher.max;
	}
	pthread_barrier_destroy(&gate);
	probe_print("hammer_rounds", (double)nr_rounds);
	probe_print("hammer_overshoot_bytes", (double)overshoot);
	probe_print("hammer_false_refusals", (double)nr_false);
}

void probe_refusal(uint64_t nr_siblings)
{
	struct umemcg *limited = probe_group(NULL, "limited", UMEMCG_MAX);
	struct umemcg **siblings = probe_groups_create(limited, nr_siblings);
	double samples[NR_REFUSALS];
	struct umemcg_failure failure;

	/* Each holds one object; sizes differ, so that there are largest ones to be found. */
	for (uint64_t i = 0; i < nr_siblings; i++)
		probe_expect(umemcg_malloc_in(siblings[i], 64 + i % 512), "an allocation failed");
	umemcg_drain(limited);
	probe_expect(umemcg_set_max(limited, umemcg_get_current(limited) + 4096) == 0, "no limit");

	for (unsigned int i = 0; i < NR_REFUSALS; i++) {
		struct umemcg *sibling = siblings[i * 97 % nr_siblings];
		double start;
		void *object;

		umemcg_enter(sibling);
		start = probe_now_ns();
		object = umemcg_malloc(8192);
		samples[i] = (probe_now_ns() - start) / 1e3;
		probe_expect(!object, "8 KiB were given out of 4 KiB");
	}
	probe_expect(umemcg_last_failure(&failure) == 0 && failure.nr_consumers > 0,
		     "the refusal names no consumer");
	probe_print("refusal_us", probe_median(samples, NR_REFUSALS));
	probe_print("refusal_us_99_percent", samples[NR_REFUSALS * 99 / 100]);
	probe_print("refusal_us_most", samples[NR_REFUSALS - 1]);
}
