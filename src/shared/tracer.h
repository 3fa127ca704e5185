/* SPDX-License-Identifier: MIT */
/*
 * A process that is stopped at each of its system calls, by a debugger in the same tree, must not
 * hold the tree up meanwhile: the debugger may need memory before it lets the process go on.
 */
#ifndef UMEMCG_SHARED_TRACER_H
#define UMEMCG_SHARED_TRACER_H

#include <stdbool.h>

#include "shared/segment.h"

/**
 * tracer_is_inside - is the calling thread traced by a process of the segment?
 *
 * May be out of date by as much as TRACER_LOOK_S. Async-signal-safe.
 */
#define TRACER_LOOK_S 1
bool tracer_is_inside(const struct segment *segment);

#endif
