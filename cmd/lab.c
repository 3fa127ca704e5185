/* SPDX-License-Identifier: MIT */
/*
 * bench and compare: the lab is another program, under another licence. It is executed in this
 * process's place, so that signals and the exit status need no passing on.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verb.h"

#define LAB "umemcg-bench"

/* The lab in this program's own folder, so that a build runs its own, installed or not. */
static int path_beside(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - sizeof("/" LAB));

	if (length < 0)
		return -errno;
	path[length] = '\0';
	dirname(path);
	strcat(path, "/" LAB);
	return 0;
}

int verb_lab(int argc, char **argv)
{
	char **lab_argv = calloc((size_t)argc + 2, sizeof(*lab_argv));
	char lab[] = LAB;
	char path[PATH_MAX];

	if (!lab_argv) {
		fprintf(stderr, "umemcg: %s: %s\n", argv[0], strerror(ENOMEM));
		return EXIT_FAILURE;
	}
	/* The verb stays, as the lab's first argument. */
	lab_argv[0] = lab;
	memcpy(lab_argv + 1, argv, (size_t)argc * sizeof(*argv));
	if (!path_beside(path))
		execv(path, lab_argv);
	execvp(lab, lab_argv);
	fprintf(stderr, "umemcg: %s: cannot run %s, neither beside umemcg nor in $PATH: %s\n",
		argv[0], lab, strerror(errno));
	free(lab_argv);
	return EXIT_FAILURE;
}
