/* SPDX-License-Identifier: MIT */
/*
 * bench and compare: the lab is another program, under another licence. It is executed in this
 * process's place, so that signals and the exit status need no passing on.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "own_folder.h"
#include "verb.h"

#define LAB "umemcg-bench"

int verb_lab(int argc, char **argv)
{
	char **lab_argv = calloc((size_t)argc + 2, sizeof(*lab_argv));
	char lab[] = LAB;
	char path[PATH_MAX + sizeof("/" LAB)];

	if (!lab_argv) {
		fprintf(stderr, "umemcg: %s: %s\n", argv[0], strerror(ENOMEM));
		return EXIT_FAILURE;
	}
	/* The verb stays, as the lab's first argument. */
	lab_argv[0] = lab;
	memcpy(lab_argv + 1, argv, (size_t)argc * sizeof(*argv));
	/* The one beside this command first, so that a build runs its own. */
	if (!own_folder(path))
		execv(strcat(path, "/" LAB), lab_argv);
	execvp(lab, lab_argv);
	fprintf(stderr, "umemcg: %s: cannot run %s, neither beside umemcg nor in $PATH: %s\n",
		argv[0], lab, strerror(errno));
	free(lab_argv);
	return EXIT_FAILURE;
}
