/* SPDX-License-Identifier: MIT */
#include "group/name.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/index.h"
#include "base/table.h"
#include "group/group.h"

#define NR_NAMES_MAX (1u << 24)

/* A name takes one row if it is short, else a chain of them. */
#define NAME_CHUNK 28

struct name_row {
	uint32_t next; /* also the table's link */
	char text[NAME_CHUNK];
};

static struct table name_table;
static struct name_row first_names[TABLE_NR_FIRST];

/* Groups with a name of their own, by its hash. */
static struct index by_name;

int name_init(const struct table *groups)
{
	if (index_init(&by_name, groups, offsetof(struct umemcg, name_hash),
		       offsetof(struct umemcg, next_named)))
		return -ENOMEM;
	return table_init(&name_table, sizeof(struct name_row), NR_NAMES_MAX, first_names);
}

static struct name_row *name_row(uint32_t name)
{
	return table_row(&name_table, name);
}

/* FNV-1a, of the parent and the text. */
static uint64_t hash_of(uint32_t parent, const char *name, size_t length)
{
	const uint64_t prime = 1099511628211u;
	uint64_t hash = (14695981039346656037u ^ parent) * prime;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * prime;
	return hash;
}

int name_check(const char *name)
{
	size_t length = strlen(name);

	if (!length || !strcmp(name, ".") || !strcmp(name, "..") || strchr(name, '/') ||
	    name[0] == '@' || !strncmp(name, "memory.", 7) || !strncmp(name, "cgroup.", 7))
		return -EINVAL;
	if (length > UMEMCG_NAME_MAX)
		return -ENAMETOOLONG;
	for (; *name; name++) {
		if ((unsigned char)*name < ' ' || *name == 127)
			return -EINVAL;
	}
	return 0;
}

static void free_text(uint32_t name)
{
	while (name) {
		uint32_t next = name_row(name)->next;

		table_put(&name_table, name);
		name = next;
	}
}

/* A chain of rows with the text and its NUL; 0 if there is no memory. */
static uint32_t keep_text(const char *text)
{
	size_t left = strlen(text) + 1;
	uint32_t first = 0, *link = &first;

	while (left) {
		size_t length = min(left, (size_t)NAME_CHUNK);
		uint32_t row = table_get(&name_table);

		if (!row) {
			*link = 0;
			free_text(first);
			return 0;
		}
		*link = row;
		link = &name_row(row)->next;
		*link = 0;
		memcpy(name_row(row)->text, text, length);
		text += length;
		left -= length;
	}
	return first;
}

int name_add(struct umemcg *group, const char *name)
{
	group->name = keep_text(name);
	if (!group->name)
		return -ENOMEM;
	group->name_hash = hash_of(counter_parent(group->id), name, strlen(name));
	index_add(&by_name, group->id);
	return 0;
}

void name_remove(struct umemcg *group)
{
	if (!group->name)
		return;
	index_remove(&by_name, group->id);
	free_text(group->name);
	group->name = 0;
}

static bool is_called(const struct umemcg *group, const char *name, size_t length)
{
	char its[UMEMCG_NAME_MAX + 1];

	return name_copy(group, its, sizeof(its)) == length && !memcmp(its, name, length);
}

static bool is_child_called(uint32_t id, uint32_t parent, const char *name, size_t length)
{
	return counter_parent(id) == parent && is_called(group_row(id), name, length);
}

/*
 * "@7" is group 7 if that has no name of its own and this parent. What else strtoul() takes for a
 * number, as "@07" or "@ 7", is not what the group is called.
 */
static uint32_t find_by_id(uint32_t parent, const char *name, size_t length)
{
	char digits[NAME_OF_ID_MAX];
	unsigned long id;

	if (length > sizeof(digits))
		return 0;
	memcpy(digits, name + 1, length - 1);
	digits[length - 1] = '\0';
	id = strtoul(digits, NULL, 10);
	if (id > UINT32_MAX || !group_is_live(group_row(id)) || group_row(id)->name)
		return 0;
	return is_child_called(id, parent, name, length) ? id : 0;
}

uint32_t name_find(uint32_t parent, const char *name, size_t length)
{
	uint32_t id;

	if (length && name[0] == '@')
		return find_by_id(parent, name, length);
	id = index_find(&by_name, hash_of(parent, name, length));
	while (id && !is_child_called(id, parent, name, length))
		id = index_next(&by_name, id);
	return id;
}

size_t name_copy(const struct umemcg *group, char *buffer, size_t size)
{
	size_t length = 0;

	if (group->id == ROOT_COUNTER)
		return snprintf(buffer, size, "%s", "");
	if (!group->name)
		return snprintf(buffer, size, "@%u", group->id);
	for (uint32_t row = group->name; row; row = name_row(row)->next) {
		size_t part = strnlen(name_row(row)->text, NAME_CHUNK);

		if (length < size)
			memcpy(buffer + length, name_row(row)->text, min(part, size - length));
		length += part;
	}
	if (size)
		buffer[min(length, size - 1)] = '\0';
	return length;
}
