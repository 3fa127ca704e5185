/* SPDX-License-Identifier: MIT */
/* A tree by its public handle, new for each test. */
#ifndef UMEMCG_TESTS_UNIT_TREE_FIXTURE_H
#define UMEMCG_TESTS_UNIT_TREE_FIXTURE_H

#include <stdint.h>

#include "umemcg-tree.h"

#define NAME "api"
#define MIB  ((uint64_t)1 << 20)

static struct umemcg_tree *tree;

static inline int open_tree(void **state)
{
	(void)state;
	return umemcg_tree_open(NAME, UMEMCG_TREE_CREATE, &tree);
}

static inline int close_tree(void **state)
{
	(void)state;
	umemcg_tree_close(tree);
	return umemcg_tree_unlink(NAME);
}

#define test_in_tree(name) cmocka_unit_test_setup_teardown(name, open_tree, close_tree)

#endif
