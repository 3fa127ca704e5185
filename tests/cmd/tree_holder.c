/* SPDX-License-Identifier: MIT */
/*
 * Keeps a tree in a known state while a test looks at it: reads a request a line, answers each with
 * its result, 0 or a negative errno.
 *
 *     create PATH | claim PATH | charge BYTES [TIMES] | uncharge BYTES
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "umemcg-tree.h"

static int charge_often(struct umemcg_tree *tree, uint32_t leaf, uint64_t nr_bytes,
			unsigned int nr_times)
{
	int error = 0;

	while (nr_times--) {
		error = umemcg_tree_charge(tree, leaf, nr_bytes);
		if (error)
			umemcg_tree_tell_refused(tree, leaf, nr_bytes);
	}
	return error;
}

int main(int argc, char **argv)
{
	char line[8192], word[32], path[UMEMCG_PATH_MAX];
	struct umemcg_tree *tree;
	uint64_t nr_bytes;
	uint32_t leaf = 0;
	int result;

	if (argc != 2)
		return 2;
	result = umemcg_tree_open(argv[1], UMEMCG_TREE_CREATE, &tree);
	printf("%d\n", result);
	fflush(stdout);
	while (!result && fgets(line, sizeof(line), stdin)) {
		unsigned int nr_times = 1;
		int answer = -1;

		if (sscanf(line, "%31s %4095s %u", word, path, &nr_times) < 2)
			return 2;
		nr_bytes = strtoull(path, NULL, 10);
		if (!strcmp(word, "create"))
			answer = umemcg_tree_create(tree, path);
		else if (!strcmp(word, "claim"))
			answer = umemcg_tree_claim(tree, path, getpid(), UMEMCG_MAX, &leaf);
		else if (!strcmp(word, "charge"))
			answer = charge_often(tree, leaf, nr_bytes, nr_times);
		else if (!strcmp(word, "uncharge"))
			answer = (umemcg_tree_uncharge(tree, leaf, nr_bytes), 0);
		printf("%d\n", answer);
		fflush(stdout);
	}
	umemcg_tree_close(tree);
	return 0;
}
