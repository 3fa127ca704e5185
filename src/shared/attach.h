/* SPDX-License-Identifier: MIT */
/*
 * The process as a leaf of a shared tree, by $UMEMCG_TREE and $UMEMCG_GROUP.
 *
 * Decided when the library is made ready: later is too late, since stocks cannot move. What the
 * process charges from then on climbs on past the root of its own tree (charge/above.h).
 */
#ifndef UMEMCG_SHARED_ATTACH_H
#define UMEMCG_SHARED_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/segment.h"

/**
 * attach_init - become a leaf, if the environment says so; reports on standard error if it cannot
 *
 * After the tables of groups are there, and before anything is charged or a handler of forks is
 * registered that charges.
 */
void attach_init(void);

/** attach_segment - the tree that this process charges, or NULL */
struct segment *attach_segment(void);

/** attach_process - its row there */
uint32_t attach_process(void);

/** attach_limit - the lowest limit on the process's path, its own included; COUNTER_MAX: none */
uint64_t attach_limit(void);

/**
 * attach_before_fork - for memory.fork = copy: charge the child; to be followed by fork()
 *
 * Return: 0; -ENOMEM if that does not fit, or -ENOSPC without room for one more process: no fork
 * is to be made then.
 */
int attach_before_fork(void);

/** attach_fork_made - the fork made this child: it is known before it comes to say so itself */
void attach_fork_made(pid_t child);

/** attach_fork_failed - the fork made no child: its row is free again */
void attach_fork_failed(void);

#endif
