/* SPDX-License-Identifier: MIT */
/*
 * The tree that is not there: what the calls about groups do while nothing is counted.
 *
 * There is one group, the root, which creating returns and destroying leaves alone; limits are
 * taken and forgotten. The same whether the controller was compiled out or is switched off.
 */
#ifndef UMEMCG_GROUP_NULL_H
#define UMEMCG_GROUP_NULL_H

#include "umemcg.h"

/** null_create - umemcg_create() of @root: nothing but a place for the result is checked */
int null_create(struct umemcg *root, struct umemcg **ret_group);

/** null_lookup - every path that is one leads to @root */
int null_lookup(struct umemcg *root, const char *path, struct umemcg **ret_group);

size_t null_name(char *buffer, size_t size);
size_t null_path(char *buffer, size_t size);

/** null_get_stat - all zeros */
void null_get_stat(struct umemcg_stat *ret_stat);

/** null_registered - what is registered for reclaim: something that can be touched, and no more */
void *null_registered(void);

#endif
