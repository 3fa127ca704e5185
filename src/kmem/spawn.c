/* SPDX-License-Identifier: MIT */
/*
 * Threads whose stacks are charged. libc makes the stack, and takes it from or leaves it to its own
 * cache; what is charged is its size, from before the thread begins until the thread's function has
 * returned, or was left by pthread_exit() or a cancellation.
 */
#include "kmem/spawn.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/system.h"
#include "base/table.h"
#include "kmem/heap.h"
#include "kmem/mapping.h"

#define NR_THREADS_MAX (1u << 22)

/* A thread with a charged stack. Its address is the key of the charge's record. */
struct spawn {
	uint32_t next_free; /* while nobody has the row: table.h */
	uint32_t row;       /* 0 while nobody has it */
	bool is_beginning;  /* not known yet to be in its group by anything but this */
	struct umemcg *group;
	void *(*start)(void *arg);
	void *arg;
};

static struct table spawn_table;

/* Guards the table and what follows. Never held while anything is charged. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t nr_beginning;

/* The calling thread's row, or NULL. */
static thread_local_fast struct spawn *current;

int spawn_init(void)
{
	return table_init(&spawn_table, sizeof(struct spawn), NR_THREADS_MAX, NULL);
}

void spawn_lock(void)
{
	pthread_mutex_lock(&lock);
}

void spawn_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static struct spawn *spawn_get(struct umemcg *group)
{
	struct spawn *spawn = NULL;
	uint32_t row;

	spawn_lock();
	row = table_get(&spawn_table);
	if (row) {
		spawn = table_row(&spawn_table, row);
		spawn->row = row;
		spawn->group = group;
		spawn->is_beginning = true;
		nr_beginning++;
	}
	spawn_unlock();
	return spawn;
}

/* Locked: from now on the thread is in its group for all to see, or is gone. */
static void end_beginning(struct spawn *spawn)
{
	if (spawn->is_beginning)
		nr_beginning--;
	spawn->is_beginning = false;
}

bool spawn_is_beginning_in(const struct umemcg *group)
{
	bool is_beginning = false;

	spawn_lock();
	for (uint32_t row = 1; nr_beginning && row < spawn_table.nr_used; row++) {
		const struct spawn *spawn = table_row(&spawn_table, row);

		is_beginning |= spawn->row && spawn->is_beginning && spawn->group == group;
	}
	spawn_unlock();
	return is_beginning;
}

/* Forgotten first: from spawn_unlock() on, another thread may charge its stack with this key. */
static void spawn_put(struct spawn *spawn)
{
	uint32_t row = spawn->row;
	struct mapping mapping;
	bool charged = !mapping_forget(KIND_STACK, spawn, &mapping);

	spawn_lock();
	end_beginning(spawn);
	spawn->row = 0;
	table_put(&spawn_table, row);
	spawn_unlock();
	if (charged)
		mapping_uncharge(&mapping);
}

static void end(void *arg)
{
	mapping_begin();
	spawn_put(arg);
	current = NULL;
	mapping_end();
}

/*
 * Runs on the new thread. A cleanup handler needs no memory and cannot fail; before it is in place
 * there is no point at which the thread could be cancelled.
 */
static void *begin(void *arg)
{
	struct spawn *spawn = arg;
	void *result;

	current = spawn;
	pthread_cleanup_push(end, spawn);
	umemcg_enter(spawn->group);
	/* With a heap it is known to be there, before it has allocated anything. */
	if (thread_flight() && thread.heap->thread) {
		spawn_lock();
		end_beginning(spawn);
		spawn_unlock();
	}
	result = spawn->start(spawn->arg);
	pthread_cleanup_pop(1);
	return result;
}

bool spawn_brings_stack(const pthread_attr_t *attr)
{
	void *lowest;
	size_t nr_bytes;

	if (!attr)
		return false;
	pthread_attr_getstack(attr, &lowest, &nr_bytes);
	/* libc derives the lowest address from the highest, which is 0 if none was set. */
	return (uintptr_t)lowest + nr_bytes != 0;
}

/* The size of the stack that libc will make, without its guard; 0 if it will make none. */
static int stack_size(const pthread_attr_t *attr, size_t *ret_nr_bytes)
{
	pthread_attr_t defaults;
	size_t nr_bytes = 0;

	if (!attr) {
		if (pthread_getattr_default_np(&defaults))
			return -ENOMEM;
		pthread_attr_getstacksize(&defaults, &nr_bytes);
		pthread_attr_destroy(&defaults);
	} else if (!spawn_brings_stack(attr)) {
		pthread_attr_getstacksize(attr, &nr_bytes);
	}
	return mapping_whole_pages(nr_bytes, ret_nr_bytes);
}

static int charge_and_create(struct spawn *spawn, size_t nr_bytes, pthread_t *ret_thread,
			     const pthread_attr_t *attr)
{
	int r = nr_bytes ? mapping_charge(spawn->group, KIND_STACK, spawn, nr_bytes) : 0;
	pthread_t untouched = *ret_thread;

	if (r)
		return r;
	/* libc names the thread before it begins, as programs expect that look for it there. */
	r = -system_thread_create(ret_thread, attr, begin, spawn);
	if (r)
		*ret_thread = untouched;
	return r;
}

int spawn_thread(struct umemcg *group, pthread_t *ret_thread, const pthread_attr_t *attr,
		 void *(*start)(void *arg), void *arg)
{
	struct spawn *spawn;
	size_t nr_bytes;
	int r = stack_size(attr, &nr_bytes);

	if (r)
		return r;
	mapping_begin();
	spawn = spawn_get(group);
	if (spawn) {
		spawn->start = start;
		spawn->arg = arg;
		r = charge_and_create(spawn, nr_bytes, ret_thread, attr);
		if (r)
			spawn_put(spawn);
	} else {
		r = -EAGAIN;
	}
	mapping_end();
	return r;
}

void spawn_forget_others(void)
{
	for (uint32_t row = 1; row < spawn_table.nr_used; row++) {
		struct spawn *spawn = table_row(&spawn_table, row);

		if (spawn->row && spawn != current)
			spawn_put(spawn);
	}
}
