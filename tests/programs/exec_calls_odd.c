/* SPDX-License-Identifier: MIT */
/* Programs executed in odd places: many times by vfork, by threads, on small stacks, with too much.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec_calls.h"

int call_vfork_loop(void)
{
	for (int i = 0; i < 200; i++) {
		pid_t child = vfork();

		if (!child) {
			execve(arguments[0], arguments, nothing);
			_exit(97);
		}
		if (wait_for(child))
			return 1;
	}
	return 0;
}

int call_vfork_fail(void)
{
	for (int i = 0; i < 200; i++) {
		pid_t child = vfork();

		if (!child) {
			execvp("there-is-no-such-program", arguments);
			_exit(errno == ENOENT ? 42 : 97);
		}
		if (wait_for(child) != 42)
			return 1;
	}
	return 0;
}

static void *execute(void *unused)
{
	(void)unused;
	execve(arguments[0], arguments, nothing);
	return NULL;
}

static void *hold(void *unused)
{
	for (;;)
		pause();
	return unused;
}

int call_thread(void)
{
	pthread_t thread, other;

	if (pthread_create(&other, NULL, hold, NULL) ||
	    pthread_create(&thread, NULL, execute, NULL))
		return 98;
	pthread_join(thread, NULL);
	return failed();
}

static char **big_environment(size_t nr)
{
	char **strings = calloc(nr + 1, sizeof(*strings));

	for (size_t i = 0; strings && i < nr; i++)
		if (asprintf(&strings[i], "V%zu=%zu", i, i) < 0)
			return NULL;
	return strings;
}

/* As little stack as a thread may have, and as much of an environment as still lies there. */
static void *vfork_search(void *environment)
{
	pid_t child = vfork();

	if (!child) {
		execvpe(arguments[0], arguments, environment);
		_exit(97);
	}
	return (void *)(intptr_t)wait_for(child);
}

int call_small_stack(void)
{
	char **strings = big_environment(450);
	pthread_attr_t attributes;
	void *result = NULL;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN);
	if (pthread_create(&thread, &attributes, vfork_search, strings))
		return 98;
	pthread_join(thread, &result);
	return (int)(intptr_t)result;
}

int call_big(void)
{
	execve(arguments[0], arguments, big_environment(10000));
	return failed();
}

static size_t mapped_pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	size_t nr = 0;

	if (!file || fscanf(file, "%zu", &nr) != 1)
		exit(96);
	fclose(file);
	return nr;
}

/* What children map stays in their parent; the second and the later ones add nothing. */
int call_vfork_big(void)
{
	char **strings = big_environment(10000);
	size_t before = 0;

	for (int i = 0; i < 50; i++) {
		pid_t child = vfork();

		if (!child) {
			execve(arguments[0], arguments, strings);
			_exit(97);
		}
		if (wait_for(child))
			return 1;
		if (!i)
			before = mapped_pages();
	}
	return mapped_pages() != before;
}

/* A failed one gives back what it mapped. */
int call_big_fail(void)
{
	char **strings = big_environment(10000);
	size_t before = mapped_pages();

	for (int i = 0; i < 50; i++) {
		execve("/dev/null/nothing", arguments, strings);
		if (errno != ENOTDIR)
			return 1;
	}
	return mapped_pages() != before;
}

int call_too_big(void)
{
	static char string[100000];

	memset(string, 'x', sizeof(string) - 1);
	{
		char *strings[1001];

		for (int i = 0; i < 1000; i++)
			strings[i] = string;
		strings[1000] = NULL;
		execve(arguments[0], arguments, strings);
	}
	return failed();
}
