/* SPDX-License-Identifier: MIT */
/* The names of the user's trees, in their order. */
#ifndef UMEMCG_CMD_TREE_NAMES_H
#define UMEMCG_CMD_TREE_NAMES_H

/** tree_names_walk - as umemcg_tree_list(), sorted */
int tree_names_walk(int (*visit)(const char *name, void *arg), void *arg);

#endif
