/* SPDX-License-Identifier: MIT */
/*
 * A debugger of itself: stops a child at each system call, as strace does, and takes memory while
 * it is stopped. The child takes memory until it is refused, or has as many MiB as the argument
 * says. Exits with the child's status, 3 if it was refused, or with 2 if tracing is forbidden.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP     (1 << 20)
#define NR_SIZES 2000

static void *held[NR_SIZES];

static int take(int nr_steps)
{
	for (int i = 0; i < nr_steps; i++) {
		void *p = malloc(STEP);

		if (!p)
			return 3;
		memset(p, 1, STEP);
	}
	return 0;
}

/* Sizes that differ, so that some need more than what is charged ahead. */
static void use_memory(unsigned int i)
{
	free(held[i % NR_SIZES]);
	held[i % NR_SIZES] = malloc(1 + i * 61 % 30000);
}

int main(int argc, char **argv)
{
	int nr_steps = argc > 1 ? atoi(argv[1]) : 0, status;
	pid_t pid = fork();

	if (pid < 0)
		return 2;
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(2);
		raise(SIGSTOP);
		_exit(take(nr_steps));
	}
	for (unsigned int i = 0; waitpid(pid, &status, 0) == pid && WIFSTOPPED(status); i++) {
		use_memory(i);
		if (ptrace(PTRACE_SYSCALL, pid, 0, 0))
			return 2;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
