/* SPDX-License-Identifier: MIT */
/*
 * Finding the process behind a thread's number, which the kernel may have given to another since.
 *
 * An entry is true if its pidfd does not say that it is dead, and the thread is of that process:
 * both are asked at each call. A new entry is made of what /proc says, which was about the right
 * process if the thread still waits afterwards. A process that has left its image is another.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "ledger.h"
#include "maps.h"
#include "process_stat.h"

/* A dynamic linker that has not loaded libumemcg by then will not do so. */
#define UNDECIDED_US 1000000

uint64_t ledger_now_us(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000;
}

static struct process **process_slot(struct ledger *ledger, pid_t pid)
{
	struct process **slot = &ledger->processes[(unsigned int)pid % LEDGER_NR_BUCKETS];

	while (*slot && (*slot)->pid != pid)
		slot = &(*slot)->next;
	return slot;
}

static struct thread **thread_slot(struct ledger *ledger, pid_t tid)
{
	struct thread **slot = &ledger->threads[(unsigned int)tid % LEDGER_NR_BUCKETS];

	while (*slot && (*slot)->tid != tid)
		slot = &(*slot)->next;
	return slot;
}

/* A process whose main thread has ended, and others have not, lives; a zombie does not. */
static bool process_lives(const struct process *process)
{
	struct pollfd pollfd = { .fd = process->pidfd, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 0;
}

static void thread_forget(struct ledger *ledger, struct thread *thread)
{
	struct thread **slot = thread_slot(ledger, thread->tid);
	struct thread **link = &thread->process->threads;

	*slot = thread->next;
	while (*link != thread)
		link = &(*link)->next_of_process;
	*link = thread->next_of_process;
	free(thread);
}

/* The leaf of a dead process is not touched: it may be another's already. */
static void process_forget(struct ledger *ledger, struct process *process)
{
	struct process **slot = process_slot(ledger, process->pid);

	while (process->threads)
		thread_forget(ledger, process->threads);
	*slot = process->next;
	close(process->pidfd);
	close(process->maps);
	free(process);
	ledger_count(&ledger->stat.nr_living, -1);
}

static int open_pidfd(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

/* By the thread, since a main thread that has ended has no address space. */
static int open_maps(pid_t tid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void claim(struct ledger *ledger, struct process *process)
{
	int r = umemcg_tree_claim(ledger->tree, ledger->group, process->pid, ledger->process_max,
				  &process->leaf);

	process->accountant = r == -EEXIST ? ACCOUNTANT_ITSELF
			      : r          ? ACCOUNTANT_NOBODY
					   : ACCOUNTANT_SUPERVISOR;
	if (!r)
		ledger_count(&ledger->stat.nr_claimed, 1);
	if (process->accountant != ACCOUNTANT_NOBODY)
		return;
	ledger_count(&ledger->stat.nr_unaccounted, 1);
	if (r == -ESRCH || ledger->has_complained)
		return;
	ledger->has_complained = true;
	fprintf(stderr, "umemcg: process %d is not accounted%s\n", process->pid,
		r == -ENOSPC ? ": the tree has no room for more processes" : "");
}

/*
 * A dynamic linker maps memory before it loads libumemcg, and is asked about then. To charge that
 * here would be to charge it twice.
 */
static void decide_accountant(struct ledger *ledger, struct process *process)
{
	if (process_stat_may_account_itself(process->pid)) {
		process->accountant = ACCOUNTANT_UNDECIDED;
		process->undecided_until_us = ledger_now_us() + UNDECIDED_US;
	} else {
		claim(ledger, process);
	}
}

static void decide_again(struct ledger *ledger, struct process *process)
{
	if (umemcg_tree_is_accounted(ledger->tree, process->pid))
		process->accountant = ACCOUNTANT_ITSELF;
	else if (ledger_now_us() > process->undecided_until_us)
		claim(ledger, process);
}

static int process_fill(struct process *process, pid_t tid)
{
	struct process_stat stat;
	struct maps_range range = { 0 };
	struct maps_look look;
	int r = process_stat_read(process->pid, &stat);

	if (r)
		return r;
	process->is_forked_image = stat.has_not_executed;
	process->end_data = stat.end_data;
	process->start_brk = stat.start_brk;
	process->maps = open_maps(tid);
	if (process->maps < 0)
		return process->maps;
	if (!process->is_forked_image)
		return 0;
	range.end_data = stat.end_data;
	range.start_brk = stat.start_brk;
	r = maps_look_at(process->maps, &range, &look);
	if (!r)
		process->nr_bytes_inherited = look.nr_bytes;
	return r;
}

static int process_create(struct ledger *ledger, int listener, const struct call *call, pid_t pid,
			  struct process **ret_process)
{
	struct process *process = calloc(1, sizeof(*process));
	struct epoll_event event = { .events = EPOLLIN };
	int r;

	if (!process)
		return -ENOMEM;
	process->pid = pid;
	process->maps = -1;
	process->pidfd = open_pidfd(pid);
	r = process->pidfd < 0 ? process->pidfd : process_fill(process, call->tid);
	if (!r && !listener_waits(listener, call))
		r = -ENOENT;
	event.data.u64 = ledger->pidfd_mark + (uint64_t)pid;
	if (!r && epoll_ctl(ledger->epoll, EPOLL_CTL_ADD, process->pidfd, &event))
		r = -errno;
	if (r) {
		if (process->pidfd >= 0)
			close(process->pidfd);
		if (process->maps >= 0)
			close(process->maps);
		free(process);
		return r;
	}
	decide_accountant(ledger, process);
	process->next = NULL;
	*process_slot(ledger, pid) = process;
	ledger_count(&ledger->stat.nr_living, 1);
	*ret_process = process;
	return 0;
}

/*
 * Has exec succeeded? Then the old address space is gone, or, if that was the parent's (vfork), the
 * flag that nothing was executed is.
 */
static bool has_left(struct process *process)
{
	const struct maps_range none = { 0 };
	struct process_stat stat;
	struct maps_look look;

	if (maps_look_at(process->maps, &none, &look))
		return true;
	return process->is_forked_image &&
	       (process_stat_read(process->pid, &stat) || !stat.has_not_executed);
}

/* Gives back what an image had that its process has left, and forgets it. */
static bool forget_left_image(struct ledger *ledger, struct process *process)
{
	if (!process->is_leaving)
		return false;
	process->is_leaving = false;
	if (!has_left(process))
		return false;
	if (process->accountant == ACCOUNTANT_SUPERVISOR)
		umemcg_tree_release(ledger->tree, process->leaf);
	process_forget(ledger, process);
	return true;
}

/* NULL for one that is not known, or not any more. */
static struct process *process_find(struct ledger *ledger, pid_t pid)
{
	struct process *process = *process_slot(ledger, pid);

	if (!process)
		return NULL;
	if (!process_lives(process)) {
		process_forget(ledger, process);
		return NULL;
	}
	return forget_left_image(ledger, process) ? NULL : process;
}

static struct thread *thread_find(struct ledger *ledger, pid_t tid)
{
	struct thread *thread = *thread_slot(ledger, tid);

	if (!thread)
		return NULL;
	if (!process_stat_has_thread(thread->process->pid, tid)) {
		thread_forget(ledger, thread);
		return NULL;
	}
	return process_find(ledger, thread->process->pid) ? *thread_slot(ledger, tid) : NULL;
}

int ledger_thread(struct ledger *ledger, int listener, const struct call *call,
		  struct thread **ret_thread)
{
	struct thread *thread = thread_find(ledger, call->tid);

	if (!thread) {
		pid_t pid = process_stat_of_thread(call->tid);
		struct process *process = pid > 0 ? process_find(ledger, pid) : NULL;
		int r = pid > 0 ? 0 : pid;

		if (!r && !process)
			r = process_create(ledger, listener, call, pid, &process);
		else if (!r && !listener_waits(listener, call))
			r = -ENOENT;
		if (r)
			return r;
		thread = calloc(1, sizeof(*thread));
		if (!thread)
			return -ENOMEM;
		thread->tid = call->tid;
		thread->process = process;
		thread->next_of_process = process->threads;
		process->threads = thread;
		*thread_slot(ledger, call->tid) = thread;
	}
	if (thread->process->accountant == ACCOUNTANT_UNDECIDED)
		decide_again(ledger, thread->process);
	*ret_thread = thread;
	return 0;
}

void ledger_leaving(struct ledger *ledger, const struct call *call)
{
	pid_t pid = process_stat_of_thread(call->tid);
	struct process *process = pid > 0 ? process_find(ledger, pid) : NULL;

	if (process)
		process->is_leaving = true;
}

void ledger_forget_threads(struct ledger *ledger, struct process *process)
{
	struct thread *next;

	for (struct thread *thread = process->threads; thread; thread = next) {
		next = thread->next_of_process;
		if (!process_stat_has_thread(process->pid, thread->tid))
			thread_forget(ledger, thread);
	}
}

void ledger_died(struct ledger *ledger, pid_t pid)
{
	struct process *process = *process_slot(ledger, pid);

	if (process && !process_lives(process))
		process_forget(ledger, process);
}

void ledger_fini(struct ledger *ledger)
{
	for (int i = 0; i < LEDGER_NR_BUCKETS; i++)
		while (ledger->processes[i])
			process_forget(ledger, ledger->processes[i]);
}
