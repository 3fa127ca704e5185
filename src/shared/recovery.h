/* SPDX-License-Identifier: MIT */
/*
 * Taking out of the books what the dead held.
 *
 * Usage is summed anew from the ledgers of the living, while nobody is in flight. It can be begun
 * again at any step, by another, and only when all is done are the dead forgotten.
 */
#ifndef UMEMCG_SHARED_RECOVERY_H
#define UMEMCG_SHARED_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/segment.h"

/** recovery_is_due - is anybody below a group dead, or an image held by one process alone? Asks the
 * kernel about each process; 0: the whole tree */
bool recovery_is_due(const struct segment *segment, uint32_t group);

/**
 * recovery_run - recover; in no flight
 * @always: also if nothing is due
 *
 * Return: 0; -ETIME if a living thread is stopped in flight: nothing is changed then.
 */
int recovery_run(struct segment *segment, bool always);

/** recovery_of_holder - in no flight: recover if who is said to hold things up is dead, or nobody
 */
void recovery_of_holder(struct segment *segment, uint32_t holder);

#endif
