/* SPDX-License-Identifier: MIT */
/* Regions that are charged as they are touched: how they come and go. */
#ifndef UMEMCG_USER_TOUCH_H
#define UMEMCG_USER_TOUCH_H

#include "kmem/mapping.h"
#include "user/region.h"

/** touch_is_usable - can regions be charged at touch in this process? */
bool touch_is_usable(void);

/**
 * touch_map - map a region, charge and record its row; between mapping_begin() and _end()
 *
 * Return: 0; -ENOMEM; -EOPNOTSUPP if this one has to be charged whole.
 */
int touch_map(struct umemcg *group, size_t nr_bytes, void **ret_address);

/**
 * touch_unmap - unmap the region whose record was taken out, and give back what its pages, stored
 * or present, are charged; not what the record is. False: it is not charged at touch
 */
bool touch_unmap(const struct mapping *mapping);

#endif
