/* SPDX-License-Identifier: MIT */
/* Regions: anonymous memory that is charged to a group by whole pages when it is mapped. */
#ifndef UMEMCG_USER_REGION_H
#define UMEMCG_USER_REGION_H

#include <stddef.h>

#include "group/group.h"

/** region_map - umemcg_map() */
int region_map(struct umemcg *group, size_t nr_bytes, void **ret_address);

/** region_unmap - umemcg_unmap() */
int region_unmap(void *address);

/** region_free_all - unmap every region that a group itself has; nobody maps or unmaps meanwhile */
void region_free_all(struct umemcg *group);

#endif
