/* SPDX-License-Identifier: MIT */
/*
 * The layout stamp: two builds of the library with the same stamp read the same in a segment.
 */
#ifndef UMEMCG_SHARED_STAMP_H
#define UMEMCG_SHARED_STAMP_H

#include <stdint.h>

/** stamp_layout - a hash of every row's size, every field's offset, and the gates' bytes */
uint64_t stamp_layout(void);

#endif
