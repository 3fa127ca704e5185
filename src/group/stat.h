/* SPDX-License-Identifier: MIT */
/* What a group's current consists of. */
#ifndef UMEMCG_GROUP_STAT_H
#define UMEMCG_GROUP_STAT_H

#include "umemcg.h"

/** group_get_stat - umemcg_get_stat() */
void group_get_stat(const struct umemcg *group, struct umemcg_stat *ret_stat);

/** group_own - as group_get_stat(), without the groups below; for audits, nobody charging */
void group_own(const struct umemcg *group, struct umemcg_stat *ret_stat);

#endif
