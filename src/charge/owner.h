/* SPDX-License-Identifier: MIT */
/*
 * The owner: a small handle that objects name instead of their group.
 *
 * While the group lives its owner leads to the group's counter. When the group is destroyed the
 * owner stays for as long as bytes are charged through it, and leads to its heir, the owner of
 * the parent. So destroying costs the same whatever the group owns, and no object is touched.
 */
#ifndef UMEMCG_CHARGE_OWNER_H
#define UMEMCG_CHARGE_OWNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct flight;

/*
 * Whoever walks all stocks meets owners of which it holds no byte, and which may be freed under its
 * eyes. So a row leads to a counter at every instant: a free one to the root, and an heir, once
 * set, stays a row of the table for ever.
 */
struct owner {
	_Atomic uint64_t remaining; /* bytes charged through it, once the group is gone; the table's
				       link, while the row is free, falls here */
	_Atomic uint32_t heir;      /* owner of the parent, once the group is gone */
	_Atomic uint32_t counter;   /* of the live group; 0 once it is gone */
};

int owner_table_init(void);

/** owner_create - the owner for a new counter; 0 if there is no memory. The caller serialises */
uint32_t owner_create(uint32_t counter);

/**
 * owner_bequeath - the group is gone; @nr_bytes are still charged to it
 *
 * The caller serialises, and nobody is in flight at the counter.
 */
void owner_bequeath(uint32_t owner, uint32_t heir, uint64_t nr_bytes);

/** owner_counter - the live counter that an owner's charges reach first */
uint32_t owner_counter(uint32_t owner);

/** owner_is_gone - has its group been destroyed? */
bool owner_is_gone(uint32_t owner);

/** owner_charge_gone - count bytes in the owners between @owner and its live heir; in flight */
void owner_charge_gone(uint32_t owner, uint64_t nr_bytes);

/** owner_uncharge_gone - its reverse; @owner is not to be used after its last byte */
void owner_uncharge_gone(uint32_t owner, uint64_t nr_bytes);

/** owner_uncharge - give bytes back straight to the books, when there is no stock at hand */
void owner_uncharge(struct flight *flight, uint32_t owner, uint64_t nr_bytes);

#endif
