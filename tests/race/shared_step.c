/* SPDX-License-Identifier: MIT */
#include "shared_step.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what)
{
	perror(what);
	abort();
}

static long trace(int request, pid_t pid, unsigned long data)
{
	return ptrace(request, pid, NULL, data);
}

bool step_is_possible(void)
{
	pid_t child = fork();
	bool is_possible;

	if (!child) {
		pause();
		_exit(0);
	}
	is_possible = !trace(PTRACE_SEIZE, child, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return is_possible;
}

/* Goes on, and to the next stop; what stopped it. */
static int go(pid_t pid, int request)
{
	int status;

	if (trace(request, pid, 0))
		fail("ptrace");
	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		fail("a traced worker ended");
	return status >> 8;
}

static void go_to_mark(const struct worker *worker)
{
	int status;

	if (waitpid(worker->pid, &status, __WALL) != worker->pid || !WIFSTOPPED(status))
		fail("a traced worker ended");
	if (WSTOPSIG(status) != MARK_SIGNAL)
		fail("a traced worker stopped elsewhere");
}

static bool opens_the_tree(pid_t pid)
{
	struct __ptrace_syscall_info info;
	char path[256] = "";
	struct iovec here = { path, sizeof(path) - 1 }, there = { NULL, sizeof(path) - 1 };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr != SYS_openat)
		return false;
	there.iov_base = (void *)(uintptr_t)info.entry.args[1];
	/* What can be read up to the end of a page is enough. */
	there.iov_len -= ((uintptr_t)there.iov_base + there.iov_len) % 4096 < there.iov_len
				 ? ((uintptr_t)there.iov_base + there.iov_len) % 4096
				 : 0;
	process_vm_readv(pid, &here, 1, &there, 1, 0);
	return strstr(path, "/umemcg.");
}

void step_begin(const struct worker *worker, enum command command, uint64_t argument)
{
	if (trace(PTRACE_SEIZE, worker->pid, PTRACE_O_TRACESYSGOOD))
		fail("ptrace");
	worker_send(worker, MARK, 0);
	worker_send(worker, command, argument);
	go_to_mark(worker);
	while (command == EXEC && !opens_the_tree(worker->pid))
		go(worker->pid, PTRACE_SYSCALL);
}

unsigned int step_on(const struct worker *worker, unsigned int nr_steps)
{
	for (unsigned int i = 0; i < nr_steps; i++) {
		if (go(worker->pid, PTRACE_SINGLESTEP) == MARK_SIGNAL)
			return i;
	}
	return nr_steps;
}

pid_t step_to_child(const struct worker *worker, enum command command)
{
	unsigned long child = 0;
	int status;

	if (trace(PTRACE_SEIZE, worker->pid, PTRACE_O_TRACEFORK))
		fail("ptrace");
	worker_send(worker, command, 0);
	if (waitpid(worker->pid, &status, __WALL) != worker->pid ||
	    status >> 8 != (SIGTRAP | PTRACE_EVENT_FORK << 8) ||
	    ptrace(PTRACE_GETEVENTMSG, worker->pid, NULL, &child) ||
	    waitpid((pid_t)child, &status, __WALL) != (pid_t)child)
		fail("a traced worker did not fork");
	return (pid_t)child;
}

void step_release(pid_t pid)
{
	if (trace(PTRACE_DETACH, pid, 0))
		fail("ptrace");
}
