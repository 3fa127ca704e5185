/* SPDX-License-Identifier: MIT */
/* Charges of whole mappings, by kind. Objects are charged by the heap, through its stocks. */
#ifndef UMEMCG_GROUP_KIND_H
#define UMEMCG_GROUP_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "charge/switch.h"

struct flight;
struct umemcg;

/**
 * group_charge_kind - charge stacks or regions: exactly, not through a stock
 *
 * Nothing happens where the kind is not counted.
 *
 * Return: 0; -ENOMEM, noted for charge_try_again().
 */
int group_charge_kind(struct flight *flight, struct umemcg *group, enum kind kind,
		      uint64_t nr_bytes);

/** owner_charge_kind - likewise, to an owner through which bytes are charged already */
int owner_charge_kind(struct flight *flight, uint32_t owner, enum kind kind, uint64_t nr_bytes);

/**
 * owner_try_charge_kind - if it fits at first sight
 *
 * Nothing is drained, decided or recorded: it may fit though this says false.
 * @ret_at: then, the level that is full (charge/above.h)
 */
bool owner_try_charge_kind(struct flight *flight, uint32_t owner, enum kind kind, uint64_t nr_bytes,
			   uint32_t *ret_at);

/** owner_uncharge_kind - its reverse, through the owner that the memory was charged to */
void owner_uncharge_kind(struct flight *flight, uint32_t owner, enum kind kind, uint64_t nr_bytes);

#endif
