/* SPDX-License-Identifier: MIT */
/*
 * Processes of the group that live on when the program has ended. One that has not begun yet, as
 * after vfork or posix_spawn, is not in the tree until it has; so that group and tree are there
 * then, with their limits, it gets a row from outside, which its own replaces.
 */
#ifndef UMEMCG_CMD_RUN_ORPHANS_H
#define UMEMCG_CMD_RUN_ORPHANS_H

#include <stdbool.h>

#include "place.h"

/** run_orphans_claim - see to it that all of them are in the tree; are there any? */
bool run_orphans_claim(const struct place *place);

#endif
