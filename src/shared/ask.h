/* SPDX-License-Identifier: MIT */
/*
 * Reclaim across processes: those below a shared group that have something which can be had anew
 * are asked to give back a part of it, in proportion to what they hold that is not protected.
 *
 * A request lies in the row of the process that is asked, where its thread waits for it
 * (shared/serve.h). Who asks waits no longer than its deadline, whatever those do.
 */
#ifndef UMEMCG_SHARED_ASK_H
#define UMEMCG_SHARED_ASK_H

#include <stdint.h>

#include "shared/segment.h"

/**
 * ask_below - have the processes at and below a group give back about @nr_bytes
 * @but:         row of a process that is not asked; 0: all are
 * @deadline_ns: of CLOCK_MONOTONIC
 *
 * In no flight, with no lock held; no cancellation point. What is below min is spared; what is
 * below low, too, unless there is nothing else: then event low.
 *
 * Return: how many they say that they gave back.
 */
uint64_t ask_below(struct segment *segment, uint32_t but, uint32_t group, uint64_t nr_bytes,
		   uint64_t deadline_ns);

#endif
