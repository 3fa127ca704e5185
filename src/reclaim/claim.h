/* SPDX-License-Identifier: MIT */
/*
 * Claims: what threads are about to reclaim of a group, so that those beside each other do not
 * together take what each of them alone would have spared.
 *
 * A row of groups keeps what is claimed of it when its group is destroyed, until the claims end.
 */
#ifndef UMEMCG_RECLAIM_CLAIM_H
#define UMEMCG_RECLAIM_CLAIM_H

#include <stdint.h>

#include "umemcg.h"

/**
 * claim_begin - claim at most @nr_bytes of what @group has above @nr_bytes_spared
 *
 * Return: how many; if not 0, claim_end() follows, in this thread, which has no other claim.
 */
uint64_t claim_begin(struct umemcg *group, uint64_t nr_bytes, uint64_t nr_bytes_spared);
void claim_end(void);

/** claim_forget_others - in a fork child: threads that it has lost claim nothing */
void claim_forget_others(void);

#endif
