/* SPDX-License-Identifier: MIT */
#include "targets/lib/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int lib_tree_make(char ret_directory[LIB_TREE_PATH])
{
	char directory[LIB_TREE_PATH] = "/dev/shm/umemcg-lab-XXXXXX";

	/* Where trees lie if no directory is set for the session: in memory. */
	if (!mkdtemp(directory))
		return -errno;
	snprintf(ret_directory, LIB_TREE_PATH, "%s", directory);
	return 0;
}

void lib_tree_remove(const char *directory)
{
	char path[LIB_TREE_PATH + 32];

	snprintf(path, sizeof(path), "%s/umemcg.%s", directory, LIB_TREE_NAME);
	unlink(path);
	rmdir(directory);
}
