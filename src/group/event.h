/* SPDX-License-Identifier: MIT */
/* What is counted when something happens at a group. The counts are in group/rare.h. */
#ifndef UMEMCG_GROUP_EVENT_H
#define UMEMCG_GROUP_EVENT_H

struct umemcg;

enum group_event { EVENT_MAX, EVENT_OOM, EVENT_UNDERFLOW, NR_GROUP_EVENTS };

/** group_event - count an event at a group, and at everything above it */
void group_event(struct umemcg *group, enum group_event event);

#endif
