/* SPDX-License-Identifier: MIT */
/* Children of a test: forked, met at a known place, and waited for. */
#ifndef UMEMCG_TESTS_UNIT_CHILD_H
#define UMEMCG_TESTS_UNIT_CHILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* As fork(); a test whose fork() fails has failed. Nothing is printed twice. */
static inline pid_t fork_child(void)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	return pid;
}

/* A child that does @act and then waits to be killed; it has done so when this returns. */
static inline pid_t fork_waiting_child(void (*act)(void))
{
	int done[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(done), 0);
	pid = fork_child();
	if (!pid) {
		/* A test that fails does not get to burying it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(done[0]);
		if (act)
			act();
		close(done[1]);
		for (;;)
			pause();
	}
	close(done[1]);
	assert_int_equal(read(done[0], &byte, 1), 0);
	close(done[0]);
	return pid;
}

static inline void bury(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* It ends by itself, and returns 0. */
static inline void wait_for_good_end(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#endif
