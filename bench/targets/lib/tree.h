/* SPDX-License-Identifier: MIT */
/* A shared tree for one block: a directory of its own, in which the worker makes it. */
#ifndef BENCH_TARGETS_LIB_TREE_H
#define BENCH_TARGETS_LIB_TREE_H

#include <stddef.h>

#define LIB_TREE_NAME "lab"
#define LIB_TREE_PATH 128

/** lib_tree_make - the directory, for $XDG_RUNTIME_DIR of a worker; 0 or a negative errno */
int lib_tree_make(char ret_directory[LIB_TREE_PATH]);

/** lib_tree_remove - with the tree in it, whose processes have ended */
void lib_tree_remove(const char *directory);

#endif
