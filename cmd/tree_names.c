/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tree_names.h"
#include "umemcg-tree.h"

struct tree_names {
	char **names;
	size_t nr;
};

static int remember(const char *name, void *arg)
{
	struct tree_names *all = arg;
	char **names = reallocarray(all->names, all->nr + 1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	all->names = names;
	names[all->nr] = strdup(name);
	return names[all->nr] ? (all->nr++, 0) : -ENOMEM;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int tree_names_walk(int (*visit)(const char *name, void *arg), void *arg)
{
	struct tree_names all = { 0 };
	int r = umemcg_tree_list(remember, &all);

	if (all.nr)
		qsort(all.names, all.nr, sizeof(*all.names), compare);
	for (size_t i = 0; i < all.nr; i++) {
		if (!r)
			r = visit(all.names[i], arg);
		free(all.names[i]);
	}
	free(all.names);
	return r;
}
