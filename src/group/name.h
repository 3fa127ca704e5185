/* SPDX-License-Identifier: MIT */
/*
 * Names of groups: where they are kept, and how one is found below its parent.
 *
 * A group that was made without a name is called after its id, "@7", costs nothing here, and is
 * found by that number. The tree's lock is held in every call.
 */
#ifndef UMEMCG_GROUP_NAME_H
#define UMEMCG_GROUP_NAME_H

#include <stddef.h>
#include <stdint.h>

struct table;
struct umemcg;

/* "@" and the digits of the largest id. */
#define NAME_OF_ID_MAX 11

/** name_init - before there is a group; @groups is their table; 0 or -ENOMEM */
int name_init(const struct table *groups);

/** name_check - 0; -EINVAL or -ENAMETOOLONG if no group may be called so */
int name_check(const char *name);

/** name_add - call a group, which has its parent, by a checked name; 0 or -ENOMEM */
int name_add(struct umemcg *group, const char *name);
void name_remove(struct umemcg *group);

/** name_find - the child of @parent whose name is these @length bytes; its id, or 0 */
uint32_t name_find(uint32_t parent, const char *name, size_t length);

/** name_copy - as umemcg_name() */
size_t name_copy(const struct umemcg *group, char *buffer, size_t size);

#endif
