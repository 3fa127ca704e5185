/* SPDX-License-Identifier: MIT */
/*
 * The rows of regions that are charged at touch, found by any address in them.
 *
 * Two levels of tables by address, as page tables are; an entry is for a chunk, and so a region
 * begins on the boundary of one. Looking up takes no lock: it is done in the handler of a fault.
 */
#ifndef UMEMCG_USER_DIRECTORY_H
#define UMEMCG_USER_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "user/region.h"

#define DIRECTORY_ENTRY_BYTES ((uint64_t)CHUNK_NR_PAGES * REGION_PAGE_BYTES)

/** directory_init - once; 0 or -ENOMEM */
int directory_init(void);

/** directory_add - enter a region that is ready for use: a copy of @region; 0 or -ENOMEM */
int directory_add(const struct region *region);

/** directory_remove - and wait until nobody uses it; *ret_region: what it was. False if none of
 * them begins at @address */
bool directory_remove(const void *address, struct region *ret_region);

/** directory_row - a row, in use or not, as long as @row is below region_nr_rows() */
struct region *directory_row(uint32_t row);

/** directory_forget - in a fork child, all that there are */
void directory_forget(void);

#endif
