/* SPDX-License-Identifier: MIT */
/*
 * Being a leaf: what charging asks of the levels above the process's root (charge/above.h),
 * answered from the tree that the process charges.
 */
#ifndef UMEMCG_SHARED_LEAF_H
#define UMEMCG_SHARED_LEAF_H

#include <stdint.h>

#include "shared/segment.h"

/**
 * leaf_begin - from now on what the process charges climbs on, from a group of a tree
 * @segment: in which it has a live row; never closed
 *
 * Once, before anything is charged or the first window is made.
 */
void leaf_begin(struct segment *segment, uint32_t group);

/** leaf_end - in a fork child without a row, before its windows are renewed: it charges alone */
void leaf_end(void);

#endif
