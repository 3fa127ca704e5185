/* SPDX-License-Identifier: MIT */
/*
 * Two threads in one limited group against one: random replacement in a small table of each
 * thread's own. Beside it the same loop without any allocation, which shows what two threads of
 * this machine are worth; a virtual machine's processors may be two halves of one core.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "probe.h"

enum { NR_SLOTS = 256, NR_SAMPLES = 7, NR_BETWEEN_LOOKS = 1000, NR_THREADS_MAX = 2 };

/* One thread, alone in its cache lines. */
struct __attribute__((aligned(256))) runner {
	struct umemcg *group; /* NULL for the loop without allocation */
	uint64_t duration_ms;
	uint64_t state;
	double nr_per_second;
	void *slots[NR_SLOTS];
};

static pthread_barrier_t gate;

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static void replace_some(struct runner *runner)
{
	for (unsigned int i = 0; i < NR_BETWEEN_LOOKS; i++) {
		uint64_t random = next(&runner->state);
		void **slot = &runner->slots[random % NR_SLOTS];

		umemcg_free(*slot);
		*slot = umemcg_malloc(16 + random / NR_SLOTS % 497);
		probe_expect(*slot, "an allocation failed");
	}
}

static void compute_some(struct runner *runner)
{
	for (unsigned int i = 0; i < 10 * NR_BETWEEN_LOOKS; i++) {
		uint64_t random = next(&runner->state);

		runner->slots[random % NR_SLOTS] = (void *)(uintptr_t)random;
	}
}

static void *run(void *arg)
{
	struct runner *runner = arg;
	uint64_t nr_looks = 0;
	double start, now;

	umemcg_enter(runner->group);
	pthread_barrier_wait(&gate);
	start = probe_now_ns();
	do {
		if (runner->group)
			replace_some(runner);
		else
			compute_some(runner);
		nr_looks++;
		now = probe_now_ns();
	} while (now - start < (double)runner->duration_ms * 1e6);
	runner->nr_per_second = (double)nr_looks * 1e9 / (now - start);
	for (unsigned int i = 0; i < NR_SLOTS && runner->group; i++)
		umemcg_free(runner->slots[i]);
	return NULL;
}

static double rate(unsigned int nr_threads, struct umemcg *group, uint64_t duration_ms)
{
	static struct runner runners[NR_THREADS_MAX];
	pthread_t threads[NR_THREADS_MAX];
	double sum = 0;

	pthread_barrier_init(&gate, NULL, nr_threads);
	for (unsigned int i = 0; i < nr_threads; i++) {
		runners[i] = (struct runner){
			.group = group,
			.duration_ms = duration_ms,
			.state = i + 1,
		};
		probe_expect(!pthread_create(&threads[i], NULL, run, &runners[i]),
			     "a thread could not be created");
	}
	for (unsigned int i = 0; i < nr_threads; i++) {
		pthread_join(threads[i], NULL);
		sum += runners[i].nr_per_second;
	}
	pthread_barrier_destroy(&gate);
	return sum;
}

void probe_scaling(uint64_t duration_ms)
{
	struct umemcg *group = probe_group(NULL, "scaling", 1 << 30);
	double with[NR_SAMPLES], without[NR_SAMPLES];

	for (unsigned int i = 0; i < NR_SAMPLES; i++) {
		double one = rate(1, group, duration_ms);

		with[i] = rate(2, group, duration_ms) / one;
		one = rate(1, NULL, duration_ms / 2);
		without[i] = rate(2, NULL, duration_ms / 2) / one;
	}
	probe_print("scaling_2_threads", probe_median(with, NR_SAMPLES));
	probe_print("scaling_machine", probe_median(without, NR_SAMPLES));
}
