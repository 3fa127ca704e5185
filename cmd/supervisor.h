/* SPDX-License-Identifier: MIT */
/*
 * The supervisor accounts processes that cannot do it themselves: programs that are linked
 * statically or make system calls past libc. The kernel asks it before each call that takes memory
 * or gives it back (seccomp user notification); it charges, and lets the call go on, or refuses it
 * with ENOMEM. It runs as a thread of `umemcg run'.
 *
 * It sees calls before they are made and never their results, so that its books are approximate;
 * it compares them with /proc/PID/maps before it refuses, and ten times a second while calls come.
 */
#ifndef UMEMCG_CMD_SUPERVISOR_H
#define UMEMCG_CMD_SUPERVISOR_H

#include <stdint.h>

#include "umemcg-tree.h"

struct supervisor;

/** struct supervisor_stat - what a supervisor has seen so far */
struct supervisor_stat {
	uint64_t nr_calls;   /* that it was asked about */
	uint64_t nr_refused; /* of these */
	uint64_t nr_looks;   /* readings of /proc/PID/maps */
	uint64_t nr_claimed; /* processes that it accounted; a program that executes counts again */
	uint64_t nr_unaccounted; /* processes that the tree had no room for */
	uint64_t nr_uncounted;   /* mappings larger than max, let through uncounted */
	uint64_t nr_living;      /* processes that it has in its books now */
};

/**
 * supervisor_create - make the socket, and the guardian
 *
 * The guardian is a process which does nothing until this one is gone, for whatever reason, and
 * lets calls go on unaccounted from then on, until nobody makes any. It is a copy of the caller,
 * so this is to be called before there are threads; what is mapped by then stays so with it.
 *
 * Return: 0; -errno of what failed.
 */
int supervisor_create(struct supervisor **ret_supervisor);

/** supervisor_name - what programs are to have in $UMEMCG_SUPERVISOR; lives with the supervisor */
const char *supervisor_name(const struct supervisor *supervisor);

/**
 * supervisor_start - begin to answer, in a thread with all signals blocked
 * @tree:        used by that thread until supervisor_stop()
 * @group:       path of the group that processes are charged to
 * @process_max: limit of each process, UMEMCG_MAX: none
 *
 * Programs that were started before it wait. With the first that comes, the soft limit of open
 * files is raised, so that what is started from then on has it, too.
 */
int supervisor_start(struct supervisor *supervisor, struct umemcg_tree *tree, const char *group,
		     uint64_t process_max);

/** supervisor_get_stat - safe from any thread, after supervisor_stop() too */
void supervisor_get_stat(const struct supervisor *supervisor, struct supervisor_stat *ret_stat);

/** supervisor_stop - end the thread; what still runs is the guardian's from now on */
void supervisor_stop(struct supervisor *supervisor);

/** supervisor_destroy - stop it if it runs, and free it; NULL is accepted */
void supervisor_destroy(struct supervisor *supervisor);

#endif
