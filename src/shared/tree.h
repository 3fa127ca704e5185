/* SPDX-License-Identifier: MIT */
/*
 * The groups of a segment. Rows are the truth and there are no links: a child is found by looking
 * at all rows for its parent.
 *
 * The tree's lock (shared/tree_lock.h) is held by who makes or removes groups. Charging never takes
 * it.
 *
 * A group that is being removed still leads to its parent, so that walks upwards stay whole if it
 * turns out to be in use.
 */
#ifndef UMEMCG_SHARED_TREE_H
#define UMEMCG_SHARED_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/segment.h"

/** tree_is_live - is it the row of a live group? */
bool tree_is_live(const struct segment *segment, uint32_t group);

/** tree_find - the live group of a path, with or without the slash in front; 0: there is none */
uint32_t tree_find(const struct segment *segment, const char *path);

/** tree_path - as umemcg_path(), of a row; what no name may have in it is shown as '?' */
size_t tree_path(const struct segment *segment, uint32_t group, char *buffer, size_t size);

/** tree_path_end - the same where @size, at least 1, may be too small: its end tells more */
void tree_path_end(const struct segment *segment, uint32_t group, char *buffer, size_t size);

/** tree_parent - 0 above the root, and for what is no live group's */
uint32_t tree_parent(const struct segment *segment, uint32_t group);

/** tree_is_below - is a group @top or below it? Bounded, whatever the rows hold */
bool tree_is_below(const struct segment *segment, uint32_t group, uint32_t top);

/** tree_copy_name - a group's name, "" for the root; its length */
size_t tree_copy_name(const struct segment *segment, uint32_t group,
		      char name[UMEMCG_NAME_MAX + 1]);

/**
 * tree_next - the group after @group in a walk below a path, parents first, sorted by name; 0: none
 * @top:  as tree_path() gives it
 * @path: of @group; becomes that of the next one
 *
 * Groups may come and go meanwhile, @group too. Costs a pass over all rows a level.
 */
uint32_t tree_next(const struct segment *segment, uint32_t group, const char *top,
		   char path[UMEMCG_PATH_MAX]);

/**
 * tree_join - put a process's row below a group
 *
 * Against tree_destroy(): whoever of the two is second sees the other.
 *
 * Return: 0; -ENOENT if there is no such group: the row is below none then.
 */
int tree_join(struct segment *segment, uint32_t process, uint32_t group);

/** tree_hold - the same for one that only looks: as long as its row is there the group is not
 * removed */
int tree_hold(struct segment *segment, uint32_t process, uint32_t group);

/** tree_count_process - one more was in a group, and in those above it; for show */
void tree_count_process(struct segment *segment, uint32_t group);

/** tree_create - umemcg_tree_create() */
int tree_create(struct segment *segment, const char *path, uint32_t *ret_group);

/** tree_destroy - umemcg_tree_destroy(): dying first, then looked at, then free */
int tree_destroy(struct segment *segment, uint32_t group);

/** tree_mend - free rows of groups that whoever made or removed them has left; lock held */
void tree_mend(struct segment *segment);

#endif
