/* SPDX-License-Identifier: MIT */
/* The group that `umemcg run' runs a program in: made, limited, and removed afterwards. */
#ifndef UMEMCG_CMD_RUN_GROUP_H
#define UMEMCG_CMD_RUN_GROUP_H

#include "place.h"
#include "run_options.h"

struct run_group {
	struct place place;
	unsigned int level_made; /* of its path, from this level on all was made here; 0: none */
	bool has_orphans;        /* processes of it have outlived the program */
};

/**
 * run_group_make - attach or make the tree, make or join the group, set limits
 *
 * Return: 0, or an exit status: then nothing is left, and what was wrong has been said.
 */
int run_group_make(struct run_group *group, const struct run_options *options);

/** run_group_remove - leave nothing that was made here and in which nobody lives */
void run_group_remove(struct run_group *group);

#endif
