/* SPDX-License-Identifier: MIT */
/* Names, paths and walks: finding one's way in the tree. */
#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "group/group.h"
#include "group/name.h"

size_t group_name(const struct umemcg *group, char *buffer, size_t size)
{
	size_t length;

	group_lock();
	length = name_copy(group, buffer, size);
	group_unlock();
	return length;
}

/* Without the terminating NUL; 0 for the root. */
size_t group_path_length_locked(const struct umemcg *group)
{
	size_t length = 0;

	for (; group->id != ROOT_COUNTER; group = group_parent(group))
		length += 1 + name_copy(group, NULL, 0);
	return length;
}

size_t group_path_locked(const struct umemcg *group, char *buffer, size_t size)
{
	size_t length = group_path_length_locked(group), end = length;

	if (!length) {
		if (size)
			buffer[min((size_t)1, size - 1)] = '\0';
		if (size > 1)
			buffer[0] = '/';
		return 1;
	}
	/* From the last name to the first; what lies beyond the buffer is left out. */
	for (; group->id != ROOT_COUNTER; group = group_parent(group)) {
		char name[UMEMCG_NAME_MAX + 1];
		size_t start = end - name_copy(group, name, sizeof(name));

		if (start < size)
			memcpy(buffer + start, name, min(end, size) - start);
		end = start - 1;
		if (end < size)
			buffer[end] = '/';
	}
	if (size)
		buffer[min(length, size - 1)] = '\0';
	return length;
}

size_t group_path(const struct umemcg *group, char *buffer, size_t size)
{
	size_t length;

	group_lock();
	length = group_path_locked(group, buffer, size);
	group_unlock();
	return length;
}

static int lookup_locked(const char *path, struct umemcg **ret_group)
{
	uint32_t id = ROOT_COUNTER;

	path += *path == '/';
	while (*path) {
		size_t length = strcspn(path, "/");

		if (!length)
			return -EINVAL;
		if (length > UMEMCG_NAME_MAX)
			return -ENAMETOOLONG;
		id = name_find(id, path, length);
		if (!id)
			return -ENOENT;
		path += length;
		path += *path == '/';
	}
	*ret_group = group_row(id);
	return 0;
}

int group_lookup(const char *path, struct umemcg **ret_group)
{
	int r;

	if (!*path)
		return -EINVAL;
	if (strlen(path) >= UMEMCG_PATH_MAX)
		return -ENAMETOOLONG;
	group_lock();
	r = lookup_locked(path, ret_group);
	group_unlock();
	return r;
}

struct umemcg *group_next(const struct umemcg *group, const struct umemcg *top)
{
	if (group->first_child)
		return group_row(group->first_child);
	for (; group != top; group = group_parent(group)) {
		if (group->next_sibling)
			return group_row(group->next_sibling);
	}
	return NULL;
}

int group_walk(struct umemcg *top, int (*visit)(struct umemcg *group, void *arg), void *arg)
{
	struct umemcg *group = top, *next;
	int r = 0;

	group_lock();
	group->nr_visits++;
	while (group) {
		/* Unlocked, as a visit may read files or allocate. */
		group_unlock();
		r = visit(group, arg);
		group_lock();
		next = r ? NULL : group_next(group, top);
		if (next)
			next->nr_visits++;
		group->nr_visits--;
		group = next;
	}
	group_unlock();
	return r;
}
