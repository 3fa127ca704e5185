/* SPDX-License-Identifier: MIT */
/* A shared tree of the library's, named after the process. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tree.h"

static char name[32];

static void must(int r, const char *what)
{
	if (!r)
		return;
	fprintf(stderr, "supervise: %s: %s\n", what, strerror(-r));
	exit(125);
}

struct umemcg_tree *tree_create(uint64_t nr_bytes_max, const char **ret_group)
{
	struct umemcg_tree *tree;
	char max[24];

	snprintf(name, sizeof(name), "supervised.%d", getpid());
	must(umemcg_tree_open(name, UMEMCG_TREE_CREATE, &tree), "a tree");
	*ret_group = "/group";
	must(umemcg_tree_create(tree, *ret_group), "a group");
	snprintf(max, sizeof(max), "%" PRIu64, nr_bytes_max);
	if (nr_bytes_max != UMEMCG_MAX)
		must(umemcg_tree_write(tree, *ret_group, "memory.max", max), "memory.max");
	return tree;
}

void tree_destroy(struct umemcg_tree *tree)
{
	umemcg_tree_close(tree);
	umemcg_tree_unlink(name);
}

void tree_join(struct umemcg_tree *tree, pid_t pid)
{
	(void)tree;
	(void)pid;
	fputs("supervise: only libumemcg makes a process a leaf of a shared tree\n", stderr);
	exit(125);
}
