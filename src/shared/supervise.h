/* SPDX-License-Identifier: MIT */
/*
 * Charging for a process that cannot do it itself, one call at a time. Its mappings are all that is
 * charged. Rows are those that were claimed by the caller's own row.
 */
#ifndef UMEMCG_SHARED_SUPERVISE_H
#define UMEMCG_SHARED_SUPERVISE_H

#include <stdint.h>
#include <sys/types.h>

#include "shared/segment.h"

/** supervise_claim - umemcg_tree_claim(), for a group's row; of two who claim one the second fails
 */
int supervise_claim(struct segment *segment, uint32_t group, pid_t pid, uint64_t max,
		    uint32_t *ret_process);

/** supervise_leaf - what names a claimed row to callers of the library */
uint32_t supervise_leaf(const struct segment *segment, uint32_t process);

/** supervise_row - the row of a leaf that is live still and a claimed one's; else 0 */
uint32_t supervise_row(const struct segment *segment, uint32_t leaf);

/** supervise_charge - 0; -ENOMEM, with the group that refused, 0: the process's own limit; -EINVAL
 */
int supervise_charge(struct segment *segment, uint32_t process, uint64_t nr_bytes,
		     uint32_t *ret_group);

/** supervise_uncharge - more than it was charged is what it was charged */
void supervise_uncharge(struct segment *segment, uint32_t process, uint64_t nr_bytes);

/** supervise_release - umemcg_tree_release() */
void supervise_release(struct segment *segment, uint32_t process);

#endif
