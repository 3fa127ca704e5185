/* SPDX-License-Identifier: MIT */
/* A library that allocates whenever others would not: in its constructor, around forks, at exit. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "moments_library.h"

#define NR_OBJECTS 3000

void *moments_from_constructor;
void *moments_from_fork[3];

/* So many that the heap has to fetch more. */
static void *allocate_much(void)
{
	static void *objects[NR_OBJECTS];
	void *last = NULL;

	for (int i = 0; i < NR_OBJECTS; i++)
		objects[i] = malloc(100 + i);
	for (int i = 0; i < NR_OBJECTS; i++)
		free(objects[i]);
	last = malloc(100000);
	if (last)
		memset(last, 'x', 100000);
	return last;
}

static void before_fork(void)
{
	moments_from_fork[0] = allocate_much();
}

static void after_fork(void)
{
	moments_from_fork[1] = allocate_much();
}

static void after_fork_in_child(void)
{
	moments_from_fork[2] = allocate_much();
}

/* Registered before anything is allocated here. */
__attribute__((constructor)) static void construct(void)
{
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
	moments_from_constructor = allocate_much();
}

__attribute__((destructor)) static void destruct(void)
{
	free(moments_from_constructor);
	free(allocate_much());
}
