/* SPDX-License-Identifier: MIT */
/* The tree where the controller is not compiled in: its root, which owns nothing. */
#include "group/group.h"

struct umemcg first_groups[TABLE_NR_FIRST];
