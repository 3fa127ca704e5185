/* SPDX-License-Identifier: MIT */
/* What happens when a charge is refused: events, and a record of why. Nothing here allocates. */
#ifndef UMEMCG_GROUP_FAILURE_H
#define UMEMCG_GROUP_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "umemcg.h"

struct failure_consumer {
	uint32_t group;
	uint64_t nr_bytes;
};

struct refusal;

/** failure_init - be told of underflows by the charge floor */
void failure_init(void);

/** failure_begin - a charge does not fit: before anything is done about it, and once a call */
void failure_begin(const struct refusal *refusal);

/**
 * failure_tell - nothing could be done about it: count and record why
 * @is_counted: by failure_describe() already
 *
 * False: the group that was full was destroyed meanwhile, so it is not what is full now.
 */
bool failure_tell(const struct refusal *refusal, bool is_counted);

/**
 * failure_describe - what failure_tell() is going to record, of a level of the process's own
 * @is_counted: as above, by an earlier call
 *
 * Counts that nothing could be reclaimed. False: as above.
 */
bool failure_describe(const struct refusal *refusal, bool is_counted,
		      struct umemcg_failure *ret_failure);

/** failure_last - umemcg_last_failure() */
int failure_last(struct umemcg_failure *ret_failure);

/** group_largest - up to UMEMCG_NR_CONSUMERS largest children, largest first; returns how many */
unsigned int group_largest(const struct umemcg *group,
			   struct failure_consumer ret[UMEMCG_NR_CONSUMERS]);

#endif
