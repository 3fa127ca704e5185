/* SPDX-License-Identifier: MIT */
/*
 * The tree of a test program, with the groups /a, /a/b and /a/c, in a directory of its own. The
 * program itself charges nothing there: it looks, and sets limits.
 */
#ifndef UMEMCG_TESTS_RACE_SHARED_TREE_H
#define UMEMCG_TESTS_RACE_SHARED_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "shared_workers.h"
#include "umemcg-tree.h"

#define TREE "test"

/* What takes longer hangs, however busy the machine is. */
#define HANGS_MS 60000

extern struct umemcg_tree *tree;

/** tree_rounds - so many of what usually happens @usual times, by $UMEMCG_TEST_SCALE in percent */
uint64_t tree_rounds(uint64_t usual);

/** tree_make, tree_remove - the directory and the tree: set-up and tear-down of all tests */
int tree_make(void **state);
int tree_remove(void **state);

struct umemcg_tree_stat tree_stat(const char *path);
uint64_t tree_current(const char *path);
void tree_set(const char *path, const char *file, uint64_t value);

/** tree_wait_processes - until no more than @nr live in it; false after HANGS_MS */
bool tree_wait_processes(unsigned int nr);

void tree_assert_nothing_is_left(void);

/** tree_start - workers in /a/b and /a/c in turn, which are ready then */
void tree_start(struct worker *workers, unsigned int nr);
void tree_kill(struct worker *workers, unsigned int nr);

/** pause_at_random - for less than so long */
void pause_at_random(unsigned int limit_ns);

#endif
