/* SPDX-License-Identifier: MIT */
/* Starts threads until it has as many as its first argument says or one is refused, with stacks of
 * as many MiB as the second says; says how many live at once, ends them, and does it again. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR_THREADS_MAX 4096

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_the_end(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return NULL;
}

int main(int argc, char **argv)
{
	int nr_wanted = argc > 2 ? atoi(argv[1]) : 0;
	size_t nr_bytes_stack = argc > 2 ? strtoul(argv[2], NULL, 10) << 20 : 0;
	static pthread_t threads[NR_THREADS_MAX];
	pthread_attr_t attributes;

	if (nr_wanted < 1 || nr_wanted > NR_THREADS_MAX || pthread_attr_init(&attributes) ||
	    pthread_attr_setstacksize(&attributes, nr_bytes_stack))
		return 2;
	for (int round = 0; round < 2; round++) {
		int nr_threads = 0, error = 0;

		pthread_mutex_lock(&held);
		while (nr_threads < nr_wanted && !error) {
			error = pthread_create(&threads[nr_threads], &attributes, wait_for_the_end,
					       NULL);
			nr_threads += !error;
		}
		pthread_mutex_unlock(&held);
		for (int i = 0; i < nr_threads; i++)
			pthread_join(threads[i], NULL);
		printf("%d %s\n", nr_threads, error ? strerrorname_np(error) : "all");
	}
	return 0;
}
