/* SPDX-License-Identifier: MIT */
/*
 * Deciding at a shared level: charge/charge.h's exclusive mode, among processes.
 *
 * A refusal needs more than that nobody is in flight and all stocks are empty: nobody below may be
 * dead with something in the books, and nobody may have been recovered since usage was looked at.
 */
#ifndef UMEMCG_SHARED_DECIDE_H
#define UMEMCG_SHARED_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/segment.h"

/* What a thread of a process of our own has besides its row: groups and stocks that are private. */
struct decider_ops {
	/** take_off - publish the flight; false, with nothing published, if a group of its own is
	 * frozen */
	bool (*take_off)(void *arg);
	void (*land)(void *arg);
	/** wait - in no flight: until that is no longer frozen */
	void (*wait)(void *arg);
	/** drain - in exclusive mode: empty the stocks of the decider's own process */
	void (*drain)(void *arg);
	/** try_charge - in exclusive mode: charge all levels; 0, or the one that is full */
	uint32_t (*try_charge)(void *arg, uint64_t nr_bytes);
};

/* Who wants to charge: a thread of a process's own, or whoever accounts one by its row alone. */
struct decider {
	uint32_t process;              /* its row */
	uint32_t thread;               /* row of its flight */
	const struct decider_ops *ops; /* NULL: what is charged is the row, and there is no more */
	void *arg;                     /* of the ops */
};

/** decide - charge exactly, in exclusive mode at @at, or refuse; as charge_decide() */
int decide(struct segment *segment, const struct decider *decider, uint64_t nr_bytes, uint32_t at,
	   uint32_t *ret_at);

/** decide_is_certain - is a refusal at a level, that was remembered, to be relied on? */
bool decide_is_certain(struct segment *segment, uint32_t at);

/** decide_set_max - umemcg_set_max() of a shared group */
int decide_set_max(struct segment *segment, uint32_t group, uint64_t max);
int decide_set_reserve(struct segment *segment, uint32_t group, uint64_t nr_bytes);

#endif
