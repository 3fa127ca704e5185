/* SPDX-License-Identifier: MIT */
/*
 * Protection: how much of a group's usage reclaim spares. Functions of numbers alone.
 *
 * A group may spare no more than its parent does, and siblings that ask for more than there is
 * share it in proportion to what they use of what they ask. The formulas are the kernel's, for
 * hierarchies without memory_recursiveprot.
 */
#ifndef UMEMCG_RECLAIM_PROTECTION_H
#define UMEMCG_RECLAIM_PROTECTION_H

#include <stdint.h>

/** protection_used - what a group uses of a setting, min or low */
uint64_t protection_used(uint64_t nr_bytes_usage, uint64_t nr_bytes_setting);

/**
 * protection_effective - of a group below the one that is reclaimed
 * @nr_bytes_used:     protection_used() of the group
 * @nr_bytes_siblings: the sum of that over all children of its parent
 * @nr_bytes_parent:   effective protection of its parent
 *
 * A child of the group that is reclaimed has its own setting instead.
 */
uint64_t protection_effective(uint64_t nr_bytes_used, uint64_t nr_bytes_siblings,
			      uint64_t nr_bytes_parent);

/** protection_part - of memory of a group that can be reclaimed, the part that is not spared */
uint64_t protection_part(uint64_t nr_bytes, uint64_t nr_bytes_usage, uint64_t nr_bytes_protected);

#endif
