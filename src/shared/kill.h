/* SPDX-License-Identifier: MIT */
/*
 * The policy "kill": a charge that does not fit ends the process that holds the most below the
 * group, or all processes of a group that is to go as one (memory.oom.group).
 */
#ifndef UMEMCG_SHARED_KILL_H
#define UMEMCG_SHARED_KILL_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/segment.h"

/**
 * kill_for - make room below a group whose policy is to kill, and wait until the dead are out of
 * the books
 * @asking:   row of the process that was refused @nr_bytes; it may be the one that is killed
 * @group:    that refused
 *
 * In no flight, with no lock held. Killed is what is charged below the group, by its pidfd: no
 * process that holds a group, as `umemcg run' does, and none that only looks.
 *
 * Return: true: try again; false: the policy is another, there is nobody to kill, or the dying
 * did not die within two seconds.
 */
bool kill_for(struct segment *segment, uint32_t asking, uint32_t group, uint64_t nr_bytes);

#endif
