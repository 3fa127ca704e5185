/* SPDX-License-Identifier: MIT */
/* What memory.events and memory.events.local of shared groups count. */
#ifndef UMEMCG_SHARED_EVENT_H
#define UMEMCG_SHARED_EVENT_H

#include <stdint.h>

#include "shared/segment.h"

/** event_count - it happened at a group: once there, and once more in all that are above it. Of no
 * group's row: nothing. Waits for nobody */
void event_count(const struct segment *segment, uint32_t group, enum shared_event event);

/** event_name - as memory.events has it */
const char *event_name(enum shared_event event);

#endif
