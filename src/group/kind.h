/* SPDX-License-Identifier: MIT */
/* Charges of whole mappings, by kind. Objects are charged by the heap, through its stocks. */
#ifndef UMEMCG_GROUP_KIND_H
#define UMEMCG_GROUP_KIND_H

#include <stdint.h>

#include "charge/switch.h"

struct flight;
struct umemcg;

/**
 * group_charge_kind - charge stacks or regions: exactly, not through a stock
 *
 * Nothing happens where the kind is not counted.
 *
 * Return: 0; -ENOMEM, after reclaim and policy.
 */
int group_charge_kind(struct flight *flight, struct umemcg *group, enum kind kind,
		      uint64_t nr_bytes);

/** owner_uncharge_kind - its reverse, through the owner that the memory was charged to */
void owner_uncharge_kind(struct flight *flight, uint32_t owner, enum kind kind, uint64_t nr_bytes);

#endif
