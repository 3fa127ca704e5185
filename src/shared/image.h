/* SPDX-License-Identifier: MIT */
/*
 * Images: what a process had when it forked, charged once for all that hold it.
 *
 * A fork by `share` makes one of what the parent pays for itself, and both hold it from then on,
 * with those that the parent held before. It ends with its last holder; one holder left alone
 * pays for it again. A holder of an image holds all older ones behind it.
 */
#ifndef UMEMCG_SHARED_IMAGE_H
#define UMEMCG_SHARED_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/segment.h"

/** image_bytes - of an image and the older ones, merged ones left out; 0 for none */
uint64_t image_bytes(const struct segment *segment, uint32_t image);

/** image_is_held - does a process hold an image? */
bool image_is_held(const struct segment *segment, uint32_t image, uint32_t process);

/**
 * image_make - what a process pays for itself becomes an image of its; 0 or -ENOMEM
 *
 * In the process, in flight, and no other thread of it is. Usage does not change.
 */
int image_make(struct segment *segment, uint32_t process);

/** image_take_back - images that a process holds alone are its own again; as image_make() */
void image_take_back(struct segment *segment, uint32_t process);

#endif
