/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the program, as if it stood in this process's place: what is sent here is passed on,
 * and what ends or stops it, ends or stops this process.
 *
 * Both are in one process group, so that what the terminal sends reaches the program by itself, and
 * is not passed on.
 */
#ifndef UMEMCG_CMD_RUN_WAIT_H
#define UMEMCG_CMD_RUN_WAIT_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct run_wait {
	sigset_t mask; /* as it was */
	struct sigaction child_action;
};

/**
 * run_wait_init - signals wait for run_wait_child(), in threads that are made later, too
 *
 * From now on orphans among the descendants become children of this process.
 */
void run_wait_init(struct run_wait *wait);

/** run_wait_restore - in the program's process: signals as they were; async-signal-safe */
void run_wait_restore(const struct run_wait *wait);

/** run_wait_reap - collect children that have ended; does any live? Else no descendant does */
bool run_wait_reap(void);

/**
 * run_wait_child - wait until the program has ended, collecting orphans that end before
 * @lock: taken while this process is stopped along with it, so that no other thread is stopped in
 *        the middle of what others wait for
 *
 * Return: its status, as of wait().
 */
int run_wait_child(pid_t pid, pthread_mutex_t *lock);

/** run_wait_end - end as the program did: the exit status, or no return but its signal */
int run_wait_end(int status);

#endif
