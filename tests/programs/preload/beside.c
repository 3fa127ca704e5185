/* SPDX-License-Identifier: MIT */
/*
 * Every function of the malloc family, so that another allocator before or after the preload object
 * meets each: whoever has allocated an object has to be the one that it is given back to. Threads
 * and a fork come in between.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The compiler may not leave out what it thinks has no effect. */
static void *use(void *object)
{
	__asm__ volatile("" : "+r"(object) : : "memory");
	if (!object)
		abort();
	memset(object, 'x', malloc_usable_size(object));
	return object;
}

static void *use_all(void *arg)
{
	for (int i = 1; i < 200; i++) {
		size_t nr_bytes = (size_t)i * i * 10;
		char *line = NULL;
		void *object;

		free(use(malloc(nr_bytes)));
		free(use(calloc(3, nr_bytes)));
		free(use(realloc(use(malloc(nr_bytes)), 2 * nr_bytes)));
		free(use(reallocarray(NULL, 3, nr_bytes)));
		free(use(reallocarray(use(malloc(nr_bytes)), 3, nr_bytes)));
		free(use(aligned_alloc(64, 64 * (size_t)i)));
		free(use(memalign(4096, nr_bytes)));
		free(use(valloc(nr_bytes)));
		if (posix_memalign(&object, 128, nr_bytes))
			abort();
		free(use(object));
		free(use(strdup("contents")));
		if (asprintf(&line, "%d", i) < 0)
			abort();
		free(use(line));
	}
	return arg;
}

int main(void)
{
	pthread_t threads[4];
	int status;
	pid_t child;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, use_all, NULL))
			return 1;
	child = fork();
	if (!child) {
		use_all(NULL);
		exit(0);
	}
	use_all(NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	if (waitpid(child, &status, 0) != child || status)
		return 1;
	malloc_trim(0);
	printf("all was given back\n");
	return 0;
}
