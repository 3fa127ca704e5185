/* SPDX-License-Identifier: MIT */
/* What other processes can do about a charge that does not fit below a shared group. */
#ifndef UMEMCG_SHARED_RELIEF_H
#define UMEMCG_SHARED_RELIEF_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/segment.h"

/**
 * relief_for - make room below a group: others are asked, then its policy is followed
 * @asking:      row of the process that was refused @nr_bytes
 * @group:       that refused; 0, the process's own limit, is nothing that others can help with
 * @deadline_ns: of CLOCK_MONOTONIC: nobody is asked after it
 *
 * In no flight, with no lock held.
 *
 * Return: is a charge to be tried again? Never of more than the group's max.
 */
bool relief_for(struct segment *segment, uint32_t asking, uint32_t group, uint64_t nr_bytes,
		uint64_t deadline_ns);

#endif
