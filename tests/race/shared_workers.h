/* SPDX-License-Identifier: MIT */
/*
 * Processes of a shared tree for tests: the test program executes itself as a worker, which is a
 * leaf of the tree from its first call on, and is told what to do by words on a pipe.
 */
#ifndef UMEMCG_TESTS_RACE_SHARED_WORKERS_H
#define UMEMCG_TESTS_RACE_SHARED_WORKERS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MARK_SIGNAL SIGUSR2

struct worker {
	pid_t pid;
	int to, from; /* commands, and a number in answer to each */
};

/* What a worker does for each; all that do not last until it is killed answer. */
enum command {
	FILL,     /* charge the argument again and again until refused; answers how often */
	CHARGE,   /* charge the argument once; answers 0 or the error */
	UNCHARGE, /* give so much back */
	ALLOCATE, /* malloc and touch; answers 0 or the error */
	FREE_ALL, /* what it allocated */
	CHURN, /* charge, allocate, free, fork at random until killed; the argument is the seed */
	CHURN_ALONE, /* the same without forks */
	HAMMER,      /* charge the argument, which never fits, until killed */
	PAIRS, /* charge and give back so much, 1000 times; answers how often it was refused */
	AUDIT, /* answers 0 if its books balance to the byte */
	FORK,  /* a child that pauses until killed; answers its pid */
	FORK_CHARGES, /* as FORK, but the child charges 200000 first */
	FORK_DIES,    /* a child that exits at once, waited for */
	FORK_COPY,    /* as FORK, as the preload object forks; answers -ENOMEM if it does not fit */
	FORK_COPY_DIES, /* as FORK_COPY and FORK_DIES */
	FORKS_COPY,     /* two threads make so many such forks each, a third charges; answers 0 */
	MAKE_GROUP,     /* and remove it; answers the error */
	MAKE_GROUPS,    /* the same until killed */
	EXEC,           /* becomes another worker, which is in the tree at once; answers 0 */
	STORM,          /* fork, churn there, kill that, so many times; answers how many */
	FORK_RATE, /* so many forks a second of children that exit at once; answers after a second
		    */
	MARK,  /* raises MARK_SIGNAL before the next command and after it, which is not answered */
	WHIRL, /* charge, allocate, free, fork in two threads, so many rounds; keeps nothing */
	IDLE_THREAD, /* a thread that leaves something in its stocks, and pauses */
	PRESS, /* allocate, cache, free, wait above high until killed; the argument is the seed */
	GO,    /* answers at once: it is ready */
};

/** workers_main - for main(): becomes a worker if the arguments say so, and does not return then */
void workers_main(int argc, char **argv);

/** worker_start - in a group of a tree; -1 as process_max for none */
struct worker worker_start(const char *tree, const char *group, int64_t process_max);
void worker_send(const struct worker *worker, enum command command, uint64_t argument);
int64_t worker_answer(const struct worker *worker);

/** worker_answers_within - false: it hangs */
bool worker_answers_within(const struct worker *worker, int limit_ms, int64_t *ret_answer);
int64_t worker_do(const struct worker *worker, enum command command, uint64_t argument);

/** worker_kill - SIGKILL, and wait */
void worker_kill(struct worker *worker);

/* ---- within a worker ---- */

/** churn - until it is killed, anywhere */
void churn(unsigned int seed, bool forks);

/** press - until it is killed; what it caches others may ask for */
void press(unsigned int seed);

/* The commands of their names that take threads. */
int64_t whirl(uint64_t nr_rounds);
int64_t start_idle_thread(void);

/* The commands of their names that fork. */
int64_t fork_and_pause(bool copies);
int64_t fork_and_charge(void);
int64_t fork_and_wait(bool copies);
int64_t fork_copies(unsigned int nr);
int64_t fork_storm(unsigned int nr);
int64_t fork_rate(unsigned int nr);

#endif
