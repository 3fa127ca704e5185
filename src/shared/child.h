/* SPDX-License-Identifier: MIT */
/*
 * The child of a fork: its row, claimed before there is one (docs/shared-trees.md, 9).
 *
 * The parent is in flight until the fork is over, so that no recovery runs between its image and
 * its child's row.
 */
#ifndef UMEMCG_SHARED_CHILD_H
#define UMEMCG_SHARED_CHILD_H

#include <sys/types.h>

#include "shared/segment.h"

/** child_prepare - before the fork, when nothing of the process charges any more */
void child_prepare(struct segment *segment);

/** child_release - in the parent, fork or no fork */
void child_release(struct segment *segment);

/**
 * child_begin - in the child: its row is its own, and so is the segment's identity
 * @group: of its parent, whose row may be gone if that one is dead
 *
 * Return: 0; or an error if there was no row for it, or, with its parent dead, what it has does not
 * fit: it is no leaf then.
 */
int child_begin(struct segment *segment, uint32_t group);

/** child_made - in the parent: the pid of its last fork's child, whose row lives with it from then
 * on */
void child_made(struct segment *segment, pid_t pid);

/** child_forget - the calling thread's last fork failed */
void child_forget(struct segment *segment);

/** child_charge_copy - under memory.fork = copy: a row for the child, charged in full; 0, -ENOMEM
 * or -ENOSPC */
int child_charge_copy(struct segment *segment);

#endif
