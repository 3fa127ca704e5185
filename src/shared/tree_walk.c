/* SPDX-License-Identifier: MIT */
/*
 * Paths, and the way from one group to the next.
 *
 * A walk goes by names, not by rows: those can be another group's by the time that it goes on.
 */
#include <string.h>

#include "group/name.h"
#include "shared/tree.h"

/* A terminal, and who splits paths, is to meet nothing that tree_create() would not have taken. */
static char shown(char c)
{
	return (unsigned char)c < ' ' || c == 127 || c == '/' ? '?' : c;
}

static void put(char *buffer, size_t size, size_t at, char c)
{
	if (at < size)
		buffer[at] = c;
}

size_t tree_path(const struct segment *segment, uint32_t group, char *buffer, size_t size)
{
	uint32_t chain[SEGMENT_MAX_DEPTH];
	char name[UMEMCG_NAME_MAX + 1];
	unsigned int depth = 0;
	size_t at = 0;

	for (; group && group != SHARED_ROOT && depth < SEGMENT_MAX_DEPTH; depth++) {
		chain[depth] = group;
		group = tree_parent(segment, group);
	}
	if (!depth)
		put(buffer, size, at++, '/');
	while (depth--) {
		size_t length = tree_copy_name(segment, chain[depth], name);

		put(buffer, size, at++, '/');
		for (size_t i = 0; i < length; i++)
			put(buffer, size, at++, shown(name[i]));
	}
	if (size)
		buffer[min(at, size - 1)] = '\0';
	return at;
}

void tree_path_end(const struct segment *segment, uint32_t group, char *buffer, size_t size)
{
	char path[UMEMCG_PATH_MAX];
	size_t length = min(tree_path(segment, group, path, sizeof(path)), sizeof(path) - 1);
	size_t cut = length < size ? 0 : length - size + 1;

	memcpy(buffer, path + cut, length - cut + 1);
	if (cut)
		memcpy(buffer, "...", min(size - 1, (size_t)3));
}

/* The child of @parent with the first name after @after. What no group may be called is none. */
static uint32_t next_child(const struct segment *segment, uint32_t parent, const char *after,
			   char ret_name[UMEMCG_NAME_MAX + 1])
{
	char name[UMEMCG_NAME_MAX + 1];
	uint32_t best = 0;

	for_each_group_row(segment, group)
	{
		if (tree_parent(segment, group) != parent || !tree_is_live(segment, group))
			continue;
		tree_copy_name(segment, group, name);
		if (strcmp(name, after) <= 0 || (best && strcmp(name, ret_name) >= 0) ||
		    name_check(name))
			continue;
		best = group;
		memcpy(ret_name, name, sizeof(name));
	}
	return best;
}

/* As next_child(), of the group with this path, which becomes the child's. */
static uint32_t descend(const struct segment *segment, uint32_t group, const char *after,
			char path[UMEMCG_PATH_MAX])
{
	size_t length = strcmp(path, "/") ? strlen(path) : 0;
	char name[UMEMCG_NAME_MAX + 1], last[UMEMCG_NAME_MAX + 1];
	uint32_t child;

	strcpy(last, after);
	while ((child = next_child(segment, group, last, name))) {
		if (length + 1 + strlen(name) < UMEMCG_PATH_MAX)
			break;
		strcpy(last, name);
	}
	if (child) {
		path[length] = '/';
		strcpy(path + length + 1, name);
	}
	return child;
}

static bool has_path(const struct segment *segment, uint32_t group, const char *path)
{
	char its[UMEMCG_PATH_MAX];

	return tree_is_live(segment, group) &&
	       tree_path(segment, group, its, sizeof(its)) < sizeof(its) && !strcmp(its, path);
}

/* Cuts the last name off a path. */
static void ascend(char path[UMEMCG_PATH_MAX], char ret_name[UMEMCG_NAME_MAX + 1])
{
	char *slash = strrchr(path, '/');

	strcpy(ret_name, slash + 1);
	slash[slash == path] = '\0';
}

uint32_t tree_next(const struct segment *segment, uint32_t group, const char *top,
		   char path[UMEMCG_PATH_MAX])
{
	char name[UMEMCG_NAME_MAX + 1];
	uint32_t next;

	if (!has_path(segment, group, path))
		group = tree_find(segment, path);
	next = group ? descend(segment, group, "", path) : 0;
	while (!next && strcmp(path, top)) {
		ascend(path, name);
		group = tree_parent(segment, group);
		if (!group)
			group = tree_find(segment, path);
		next = group ? descend(segment, group, name, path) : 0;
	}
	return next;
}
