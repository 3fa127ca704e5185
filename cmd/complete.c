/* SPDX-License-Identifier: MIT */
/* complete: words for a shell that completes a command line, one a line. Never a complaint. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree_names.h"
#include "umemcg-tree.h"
#include "verb.h"

static int print_tree(const char *name, void *arg)
{
	(void)arg;
	puts(name);
	return 0;
}

static int print_group(const char *path, void *arg)
{
	(void)arg;
	puts(path);
	return 0;
}

static void print_groups(const char *name)
{
	struct umemcg_tree *tree;

	if (umemcg_tree_open(name, 0, &tree))
		return;
	umemcg_tree_walk(tree, "/", print_group, NULL);
	umemcg_tree_close(tree);
}

int verb_complete(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const char *tree_name = argc > 2 && *argv[2] ? argv[2] : getenv("UMEMCG_TREE");
	const char *file;

	if (!strcmp(what, "trees"))
		tree_names_walk(print_tree, NULL);
	else if (!strcmp(what, "groups"))
		print_groups(tree_name ? tree_name : UMEMCG_TREE_DEFAULT);
	else if (!strcmp(what, "files"))
		for (unsigned int i = 0; (file = umemcg_tree_control_file(i)); i++)
			puts(file);
	return EXIT_SUCCESS;
}
