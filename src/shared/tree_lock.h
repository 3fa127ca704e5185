/* SPDX-License-Identifier: MIT */
/*
 * The tree's lock: a process's row, and how often it was taken over from the dead, in one word.
 *
 * Whoever finds its holder dead takes it over and mends the tree. The count keeps a slow finder
 * from taking it from a new process that has the dead one's row. Between threads of one process
 * segment->lock is held with it.
 */
#ifndef UMEMCG_SHARED_TREE_LOCK_H
#define UMEMCG_SHARED_TREE_LOCK_H

#include "shared/segment.h"

/** tree_lock_take - 0; -ETIMEDOUT if its holder lives and does not give it back within a second */
int tree_lock_take(struct segment *segment);
void tree_lock_give(struct segment *segment);

/** tree_lock_leave - see that a row, whose process is dead or goes, does not hold it any more */
void tree_lock_leave(struct segment *segment, uint32_t process);

#endif
