/* SPDX-License-Identifier: MIT */
/*
 * Charging the shared levels, from a process's row up to the root (docs/shared-trees.md, 5).
 *
 * A process's ledger is raised before usage is, and lowered after it, so that usage is at most what
 * the ledgers say. A level is named by its group's row, marked by ABOVE; ABOVE alone is the
 * process.
 */
#ifndef UMEMCG_SHARED_CLIMB_H
#define UMEMCG_SHARED_CLIMB_H

#include <stdbool.h>
#include <stdint.h>

#include "charge/above.h"
#include "shared/segment.h"

/** climb_is_frozen - does somebody decide at a group or above it, or recover? */
bool climb_is_frozen(const struct segment *segment, uint32_t group);
bool climb_is_recovering(const struct segment *segment);

/** climb_wait_thawed - in no flight; recovers if whoever holds things up is dead */
void climb_wait_thawed(struct segment *segment, uint32_t group);

/** climb_try_add - in flight: charge a process and all groups above it; 0, or the level that is
 * full */
uint32_t climb_try_add(struct segment *segment, uint32_t process, uint64_t nr_bytes,
		       bool use_reserve);

/** climb_sub - in flight or uncharging; more than a group has is clamped there */
void climb_sub(struct segment *segment, uint32_t process, uint64_t nr_bytes);

/** climb_give_back - in exclusive mode: bytes that were taken out of a process's stocks, in its
 * next round. The instant at which it happens is that of one store */
void climb_give_back(struct segment *segment, uint32_t process, uint64_t nr_bytes);

/** climb_settle - in the process, in flight: what was given back is off its own books as well */
void climb_settle(struct segment *segment, uint32_t process, uint64_t nr_bytes);

/** climb_sub_own - as climb_sub() of all that a process pays for itself, but for its ledger */
void climb_sub_own(struct segment *segment, uint32_t process);

/** climb_group - the group that a process is below; 0: it charges nothing */
uint32_t climb_group(const struct segment *segment, uint32_t process);

/** climb_headroom - the most that fits at all groups of a process, now */
uint64_t climb_headroom(const struct segment *segment, uint32_t process, bool use_reserve);

/** climb_refused - a level that is known to refuse so much to a process, or 0 */
uint32_t climb_refused(struct segment *segment, uint32_t process, uint64_t nr_bytes);

/** climb_remember_refusal - in exclusive mode at the group: since usage was what it was when
 * nr_uncharges was read, so much does not fit for this process */
void climb_remember_refusal(struct segment *segment, uint32_t process, uint32_t group,
			    uint64_t nr_bytes, uint64_t nr_uncharges);

/** climb_nr_processes - that live and charge below a group; at least 1 */
uint32_t climb_nr_processes(const struct segment *segment, uint32_t group);

/** climb_own - what a process pays for itself, its images left out */
uint64_t climb_own(const struct segment *segment, uint32_t process);

/** climb_image_bytes - what it holds by reference */
uint64_t climb_image_bytes(const struct segment *segment, uint32_t process);

#endif
