/* SPDX-License-Identifier: MIT */
/* What is counted when something happens at a group. The counts are in group/rare.h. */
#ifndef UMEMCG_GROUP_EVENT_H
#define UMEMCG_GROUP_EVENT_H

#include "umemcg.h"

/** group_event - count an event at a group, and at everything above it */
void group_event(struct umemcg *group, enum umemcg_event event);

#endif
