/* SPDX-License-Identifier: MIT */
/* What is counted when something happens at a group. The counts are in group/rare.h. */
#ifndef UMEMCG_GROUP_EVENT_H
#define UMEMCG_GROUP_EVENT_H

#include <stdbool.h>

#include "base/compiler.h"
#include "umemcg.h"

/*
 * Set once, by the floor of reclaim, when the library is made ready: an event at a group that has
 * subscribers, as its rare row says; its own, or of one below it. Perhaps in flight and under any
 * lock: it allocates nothing, and waits for nobody who might.
 */
extern hidden void (*event_wake)(struct umemcg *group, enum umemcg_event event, bool is_local);

/** group_event - count an event at a group, which stays meanwhile, and at everything above it */
void group_event(struct umemcg *group, enum umemcg_event event);

/** group_event_if_live - the same of a group that others may destroy; the tree is not locked */
void group_event_if_live(struct umemcg *group, enum umemcg_event event);

#endif
