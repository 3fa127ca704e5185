/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "calls.h"
#include "contexts.h"
#include "counters.h"
#include "failure.h"
#include "tasks.h"

#define NR_BUCKETS 1024

enum kind {
	KIND_UNDECIDED,
	KIND_USER,
	KIND_KERNEL,
	KIND_IDLE,
};

static const unsigned int context_of_kind[] = {
	[KIND_UNDECIDED] = COUNT_UNDECIDED,
	[KIND_USER] = COUNT_TASK,
	[KIND_KERNEL] = COUNT_DEFERRED,
	[KIND_IDLE] = COUNT_IDLE,
};

struct task {
	uint64_t address;
	enum kind kind;
	bool is_new; /* its beginning was seen */
	bool ends;
	struct call_stack *calls;
	struct task *next; /* in its bucket */
};

static struct task *buckets[NR_BUCKETS];
static struct task *running;

/* Inside the function that switches. */
static bool switching;
static uint64_t last_written;
static uint64_t nr_lost;

uint64_t tasks_nr_lost(void)
{
	return nr_lost;
}

static struct task **bucket_of(uint64_t address)
{
	/* task_structs lie some KiB apart. */
	return &buckets[(address >> 6) % NR_BUCKETS];
}

static void insert(struct task *task, uint64_t address)
{
	struct task **bucket = bucket_of(address);

	task->address = address;
	task->next = *bucket;
	*bucket = task;
}

static struct task *create(void)
{
	struct task *task = allocate(1, sizeof(*task));

	task->calls = calls_create();
	return task;
}

static struct task *find_or_create(uint64_t address)
{
	struct task *task = *bucket_of(address);

	while (task && task->address != address)
		task = task->next;
	if (!task) {
		task = create();
		insert(task, address);
	}
	return task;
}

static void destroy(struct task *task)
{
	struct task **link = bucket_of(task->address);

	while (*link != task)
		link = &(*link)->next;
	*link = task->next;
	calls_destroy(task->calls);
	free(task);
}

void tasks_init(void)
{
	/* The task that boots; its address shows when it stops for the first time. */
	running = create();
	calls_switch(running->calls);
}

static void decide(enum kind kind)
{
	unsigned int context = context_of_kind[kind];
	bool was_undecided = running->kind == KIND_UNDECIDED;

	if (running->kind == kind)
		return;
	running->kind = kind;
	contexts_task(context);
	if (was_undecided) {
		counters_move(COUNT_UNDECIDED, context);
		calls_decide(kind == KIND_USER);
	}
}

static void switch_to(uint64_t previous, uint64_t next)
{
	struct task *stopped = running;

	if (!stopped->address)
		insert(stopped, previous);
	if (stopped->address != previous)
		nr_lost++;
	/* Threads of the kernel pass through kthread() early on; all others run user code. */
	if (stopped->kind == KIND_UNDECIDED)
		decide(stopped->is_new ? KIND_USER : KIND_KERNEL);
	if (stopped->ends)
		calls_end();
	running = find_or_create(next);
	contexts_switch(context_of_kind[running->kind]);
	calls_switch(running->calls);
	if (stopped->ends && stopped != running)
		destroy(stopped);
}

void tasks_switch_begin(void)
{
	switching = true;
	last_written = 0;
}

void tasks_switch_access(bool writes, uint64_t address)
{
	if (!switching)
		return;
	if (writes) {
		last_written = address;
		return;
	}
	switching = false;
	switch_to(last_written, address);
}

void tasks_new(void)
{
	if (running->is_new && running->kind == KIND_UNDECIDED)
		return;
	/* One whose end was not seen had the same address. */
	if (running->kind != KIND_UNDECIDED) {
		running->kind = KIND_UNDECIDED;
		running->ends = false;
		contexts_task(COUNT_UNDECIDED);
	}
	running->is_new = true;
}

void tasks_kernel_thread(void)
{
	decide(KIND_KERNEL);
}

void tasks_idle(void)
{
	decide(KIND_IDLE);
}

void tasks_user(void)
{
	decide(KIND_USER);
}

void tasks_end(void)
{
	running->ends = true;
}

void tasks_each_calls(void (*visit)(struct call_stack *stack))
{
	for (unsigned int i = 0; i < NR_BUCKETS; i++) {
		for (struct task *task = buckets[i]; task; task = task->next)
			visit(task->calls);
	}
	if (!running->address)
		visit(running->calls);
}
