/* SPDX-License-Identifier: MIT */
/*
 * One half of the threads only allocate, the other half only free: batches of objects go from the
 * one to the other through a queue. Checked by a stamp in every object, and by the number of
 * batches that arrive. A round is one batch.
 */
#include <pthread.h>

#include "alloc.h"
#include "workloads.h"

enum { BATCH_OBJECTS = 1000, QUEUE_BATCHES_MAX = 16, BYTES_MIN = 16, BYTES_MAX = 256 };

struct batch {
	struct batch *next;
	uint64_t *objects[BATCH_OBJECTS];
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t not_empty, not_full;
	struct batch *first;
	unsigned int nr_batches;
	uint64_t nr_left; /* batches that no consumer has claimed */
};

static void queue_put(struct queue *queue, struct batch *batch)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->nr_batches == QUEUE_BATCHES_MAX)
		pthread_cond_wait(&queue->not_full, &queue->lock);
	batch->next = queue->first;
	queue->first = batch;
	queue->nr_batches++;
	pthread_cond_signal(&queue->not_empty);
	pthread_mutex_unlock(&queue->lock);
}

/* Returns NULL when every batch has been claimed. */
static struct batch *queue_get(struct queue *queue)
{
	struct batch *batch = NULL;

	pthread_mutex_lock(&queue->lock);
	if (queue->nr_left > 0) {
		queue->nr_left--;
		while (!queue->first)
			pthread_cond_wait(&queue->not_empty, &queue->lock);
		batch = queue->first;
		queue->first = batch->next;
		queue->nr_batches--;
		pthread_cond_signal(&queue->not_full);
	}
	pthread_mutex_unlock(&queue->lock);
	return batch;
}

static uint64_t produce(struct worker *worker, unsigned int nr_producers)
{
	uint64_t nr_batches = worker->parameters->nr_rounds / nr_producers;

	for (uint64_t i = 0; i < nr_batches; i++) {
		struct batch *batch = must_malloc(sizeof(*batch));

		for (unsigned int j = 0; j < BATCH_OBJECTS; j++) {
			uint32_t nr_bytes = random_below(&worker->seed, BYTES_MAX - BYTES_MIN);

			batch->objects[j] = must_malloc(BYTES_MIN + nr_bytes);
			*batch->objects[j] = j;
		}
		queue_put(worker->shared, batch);
	}
	return nr_batches * (BATCH_OBJECTS + 1);
}

static void consume(struct queue *queue)
{
	struct batch *batch;

	while ((batch = queue_get(queue)) != NULL) {
		for (unsigned int j = 0; j < BATCH_OBJECTS; j++) {
			workload_expect(*batch->objects[j] == j, "object of xmalloc");
			alloc_free(batch->objects[j]);
		}
		alloc_free(batch);
	}
}

static uint64_t produce_or_consume(struct worker *worker)
{
	unsigned int nr_producers = worker->parameters->nr_threads / 2;

	if (worker->index < nr_producers)
		return produce(worker, nr_producers);
	consume(worker->shared);
	return 0;
}

uint64_t xmalloc_run(const struct parameters *parameters)
{
	unsigned int nr_producers = parameters->nr_threads / 2;
	struct queue queue = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.not_empty = PTHREAD_COND_INITIALIZER,
		.not_full = PTHREAD_COND_INITIALIZER,
	};
	uint64_t nr_operations;

	workload_expect(nr_producers > 0, "xmalloc needs 2 threads or more");
	queue.nr_left = parameters->nr_rounds / nr_producers * nr_producers;
	nr_operations = workers_run(parameters, 0, produce_or_consume, &queue);
	workload_expect(!queue.first && !queue.nr_left, "batches of xmalloc");
	return nr_operations;
}
