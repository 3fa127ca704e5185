/* SPDX-License-Identifier: MIT */
/* What workers do that fork. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shared/attach.h"
#include "shared_workers.h"
#include "umemcg.h"

/* As preload/fork.c does it. */
static pid_t copying_fork(void)
{
	int r = attach_before_fork();
	pid_t pid;

	if (r)
		return r;
	pid = fork();
	if (pid > 0)
		attach_fork_made(pid);
	if (pid < 0)
		attach_fork_failed();
	return pid;
}

/* Children that the tree has no room for are not. */
static bool is_counted(void)
{
	return attach_segment();
}

static void pause_alone(void)
{
	for (int fd = 0; fd < 64; fd++)
		close(fd);
	prctl(PR_SET_PDEATHSIG, 0);
	for (;;)
		pause();
}

/* A child that has not run yet is known by its parent alone, unless that says so: it dies with it.
 */
static void wait_until_born(int born[2])
{
	char byte;

	close(born[1]);
	if (read(born[0], &byte, 1) < 0)
		abort();
	close(born[0]);
}

static void be_born(const int born[2])
{
	if (write(born[1], "", 1) != 1)
		abort();
	pause_alone();
}

int64_t fork_and_pause(bool copies)
{
	int born[2];
	pid_t child;

	if (pipe(born))
		return -errno;
	child = copies ? copying_fork() : fork();
	if (!child)
		be_born(born);
	wait_until_born(born);
	return child;
}

int64_t fork_and_charge(void)
{
	int born[2];
	pid_t child;

	if (pipe(born))
		return -errno;
	child = fork();
	if (!child && umemcg_try_charge(NULL, 200000))
		abort();
	if (!child)
		be_born(born);
	wait_until_born(born);
	return child;
}

int64_t fork_and_wait(bool copies)
{
	pid_t child = copies ? copying_fork() : fork();
	int status;

	if (!child)
		_exit(is_counted() ? 0 : 1);
	if (child < 0)
		return child;
	return waitpid(child, &status, 0) == child && !status ? 0 : -ECHILD;
}

struct forker {
	unsigned int nr;
	int error;
};

static void *fork_copies_here(void *arg)
{
	struct forker *forker = arg;

	for (unsigned int i = 0; i < forker->nr && !forker->error; i++) {
		pid_t child = copying_fork();

		if (!child) {
			/* As much as it had is given back by the child, too. */
			umemcg_uncharge(NULL, 1000);
			_exit(umemcg_try_charge(NULL, 1000) ? 1 : 0);
		}
		if (child > 0)
			waitpid(child, NULL, 0);
		else if (child != -ENOMEM)
			forker->error = child;
	}
	return NULL;
}

static atomic_bool is_over;

static void *charge_beside(void *arg)
{
	while (!is_over) {
		if (!umemcg_try_charge(NULL, 300000))
			umemcg_uncharge(NULL, 300000);
	}
	return arg;
}

int64_t fork_copies(unsigned int nr)
{
	struct forker forkers[2] = { { .nr = nr }, { .nr = nr } };
	pthread_t threads[3];

	is_over = false;
	if (pthread_create(&threads[2], NULL, charge_beside, NULL))
		return -EAGAIN;
	for (unsigned int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, fork_copies_here, &forkers[i]);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	is_over = true;
	pthread_join(threads[2], NULL);
	return forkers[0].error ? forkers[0].error : forkers[1].error;
}

int64_t fork_storm(unsigned int nr)
{
	srand((unsigned int)getpid());
	for (unsigned int i = 0; i < nr; i++) {
		unsigned int seed = (unsigned int)rand();
		pid_t child = fork();
		int status;

		if (!child) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (is_counted())
				churn(seed, true);
			_exit(1);
		}
		if (child < 0)
			return -errno;
		attach_fork_made(child);
		nanosleep(&(struct timespec){ .tv_nsec = rand() % 600000 }, NULL);
		kill(child, SIGKILL);
		if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) ||
		    WTERMSIG(status) != SIGKILL)
			return -ECHILD;
	}
	return nr;
}

int64_t fork_rate(unsigned int nr)
{
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (unsigned int i = 0; i < nr; i++) {
		int64_t error = fork_and_wait(false);

		if (error)
			return error;
		next.tv_nsec += 1000000000 / nr;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	return 0;
}
