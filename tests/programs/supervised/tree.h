/* SPDX-License-Identifier: MIT */
/* Makes the tree of a test: one of this process's own, or a shared one; the build chooses. */
#ifndef UMEMCG_TESTS_SUPERVISED_TREE_H
#define UMEMCG_TESTS_SUPERVISED_TREE_H

#include "umemcg-tree.h"

/** tree_create - with one group below its root; ends the program if it cannot */
struct umemcg_tree *tree_create(uint64_t nr_bytes_max, const char **ret_group);
void tree_destroy(struct umemcg_tree *tree);

/** tree_join - a process becomes a leaf itself, as one with the preload object does */
void tree_join(struct umemcg_tree *tree, pid_t pid);

#endif
