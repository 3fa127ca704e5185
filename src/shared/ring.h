/* SPDX-License-Identifier: MIT */
/* The ring of reports: written by who was refused, read by verbs. */
#ifndef UMEMCG_SHARED_RING_H
#define UMEMCG_SHARED_RING_H

#include <stdint.h>

#include "shared/segment.h"
#include "umemcg-tree.h"

/** ring_refused - count and tell that a charge of @nr_bytes by @process was refused at @group (0:
 * by the process's own limit); finds the largest processes below. Allocates nothing, waits for
 * nobody */
void ring_refused(struct segment *segment, uint32_t process, uint32_t group, uint64_t nr_bytes);

/** ring_killed - tell that @process is killed since @group refused @nr_bytes to @asking */
void ring_killed(struct segment *segment, uint32_t process, uint32_t asking, uint32_t group,
		 uint64_t nr_bytes);

/** ring_text - one of the other kinds */
void ring_text(struct segment *segment, uint32_t process, enum umemcg_report_kind kind,
	       uint64_t nr_bytes, const char *text);

/** ring_wake - have those that wait for reports look for the dead, and recover. Waits for nobody */
void ring_wake(struct segment *segment);

/** ring_wait - umemcg_tree_wait() */
int ring_wait(struct segment *segment, uint64_t sequence, int timeout_ms,
	      struct umemcg_report *ret_report);

#endif
