/* SPDX-License-Identifier: MIT */
/* Threads of a workload, each in the group that its creator was in, and the common ways to fail. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "workload.h"

void workload_expect(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "alloc-bench: wrong: %s\n", what);
	exit(1);
}

void *must_malloc(size_t nr_bytes)
{
	void *object = alloc_malloc(nr_bytes);

	if (!object)
		workload_expect(false, "an allocation failed");
	return object;
}

void *must_realloc(void *object, size_t nr_bytes)
{
	void *grown = alloc_realloc(object, nr_bytes);

	if (!grown)
		workload_expect(false, "a reallocation failed");
	return grown;
}

static void *worker_start(void *arg)
{
	struct worker *worker = arg;

#ifdef ALLOC_UMEMCG
	umemcg_enter(worker->group);
#endif
	worker->nr_operations = worker->body(worker);
	return NULL;
}

uint64_t workers_run(const struct parameters *parameters, uint64_t generation,
		     uint64_t (*body)(struct worker *worker), void *shared)
{
	struct worker workers[WORKERS_MAX];
	pthread_t threads[WORKERS_MAX];
	uint64_t nr_operations = 0;

	for (unsigned int i = 0; i < parameters->nr_threads; i++) {
		workers[i] = (struct worker){
			.body = body,
			.parameters = parameters,
			.shared = shared,
			.index = i,
			.seed = parameters->seed + generation * WORKERS_MAX + i,
		};
#ifdef ALLOC_UMEMCG
		workers[i].group = umemcg_current();
#endif
		workload_expect(!pthread_create(&threads[i], NULL, worker_start, &workers[i]),
				"a thread could not be created");
	}
	for (unsigned int i = 0; i < parameters->nr_threads; i++) {
		pthread_join(threads[i], NULL);
		nr_operations += workers[i].nr_operations;
	}
	return nr_operations;
}
