/* SPDX-License-Identifier: MIT */
/* Forks while other threads allocate; each child allocates before it executes another program.
 * Exits with 0 if every child got there. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR_FORKS   200
#define NR_THREADS 4

static atomic_bool ending;

static void *allocate(void *arg)
{
	unsigned int i = 0;

	/* Relaxed: it only has to be seen some time. */
	while (!atomic_load_explicit(&ending, memory_order_relaxed)) {
		char *p = malloc(16 + i++ * 13 % 20000);

		if (p)
			p[0] = 1;
		free(p);
	}
	return arg;
}

static void child(void)
{
	char *name = strdup("/bin/true");
	char *large = malloc(1 << 20);

	if (!name || !large)
		_exit(10);
	memset(large, 1, 1 << 20);
	free(large);
	execl(name, name, (char *)NULL);
	_exit(11);
}

int main(void)
{
	pthread_t threads[NR_THREADS];
	int nr_bad = 0;

	for (int i = 0; i < NR_THREADS; i++)
		if (pthread_create(&threads[i], NULL, allocate, NULL))
			return 2;
	for (int i = 0; i < NR_FORKS; i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0)
			child();
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
			printf("fork %d: pid %d, status 0x%x\n", i, (int)pid, status);
			nr_bad++;
		}
	}
	/* Relaxed, as where it is read. */
	atomic_store_explicit(&ending, true, memory_order_relaxed);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	return nr_bad ? 1 : 0;
}
