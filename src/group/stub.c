/* SPDX-License-Identifier: MIT */
/* The tree where the controller is not compiled in: its root, which owns nothing. */
#include "group/group.h"

struct umemcg *group_row(uint32_t id)
{
	static struct umemcg root;

	(void)id;
	return &root;
}
