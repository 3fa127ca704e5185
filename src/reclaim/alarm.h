/* SPDX-License-Identifier: MIT */
/*
 * Who waits for pressure: an eventfd for each trigger, told when a row of pressure is looked at.
 */
#ifndef UMEMCG_RECLAIM_ALARM_H
#define UMEMCG_RECLAIM_ALARM_H

#include <stdint.h>

#include "group/group.h"
#include "reclaim/trigger.h"

struct pressure;

/** alarm_init - 0 or -ENOMEM */
int alarm_init(void);

/** alarm_add - for a live group; 0, -EINVAL, -ENOMEM, -EAGAIN without a thread, or why there is
 * no eventfd */
int alarm_add(struct umemcg *group, const struct trigger *trigger, int *ret_eventfd);

/** alarm_remove - and close the eventfd; -EINVAL if it is none of ours */
int alarm_remove(int eventfd);

/* The rest under the lock of pressure. */

/** alarm_update - wake those of a row whose trigger says so, now that its time is counted */
void alarm_update(const struct pressure *pressure, uint64_t now_ns);

/** alarm_look_later - have a row looked at in time, if nobody else may look at it */
void alarm_look_later(const struct pressure *pressure, uint64_t now_ns);

/** alarm_end - the group goes: wake all of a row, and leave them */
void alarm_end(struct pressure *pressure);

/** alarm_forget_all - in a fork child: what is open stays open, and is its parent's to wake */
void alarm_forget_all(void);

#endif
