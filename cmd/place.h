/* SPDX-License-Identifier: MIT */
/*
 * Where a verb works: a tree, and a group in it. What is not named comes from the environment, so
 * that within `umemcg run' a verb means the tree and the group it is in.
 */
#ifndef UMEMCG_CMD_PLACE_H
#define UMEMCG_CMD_PLACE_H

#include <stdbool.h>

#include "umemcg-tree.h"

/** struct place - a group; an open tree once place_open() has returned 0 */
struct place {
	const char *verb; /* for what is said */
	const char *tree_name;
	struct umemcg_tree *tree;
	char path[UMEMCG_PATH_MAX];
};

/**
 * place_init - find out which tree and group are meant
 * @tree_name: NULL: $UMEMCG_TREE, else "default"
 * @path:      one without a leading slash is below $UMEMCG_GROUP, if that tree is meant, else below
 *             the root, and "." is that group; NULL: the root
 *
 * Return: 0 or an exit status; what was wrong has been said.
 */
int place_init(struct place *place, const char *verb, const char *tree_name, const char *path);

/** place_open - attach its tree; @creates: make it if there is none. As place_init() */
int place_open(struct place *place, bool creates);
void place_close(struct place *place);

/** place_enter - as place_init(), open a tree that there is, and see that it has the group */
int place_enter(struct place *place, const char *verb, const char *tree_name, const char *path);

/** place_complain_tree - say what is wrong with the tree: @error; returns the exit status */
int place_complain_tree(const struct place *place, int error);

/** place_complain_group - the same of the group @path */
int place_complain_group(const struct place *place, const char *path, int error);

/** place_is_below - is @path the group @top, or below it? */
bool place_is_below(const char *path, const char *top);

/** place_level - how deep below the root; 0: the root */
unsigned int place_level(const char *path);

#endif
