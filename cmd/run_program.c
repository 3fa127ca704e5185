/* SPDX-License-Identifier: MIT */
/*
 * run-program: executes a program through libc, so that the preload object sees it. It calls
 * nothing of the library: this process is accounted by the object alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "verb.h"

int verb_run_program(int argc, char **argv)
{
	if (argc < 2 || !getenv("UMEMCG_TREE")) {
		arguments_refuse(argv[0], "`umemcg run [OPTION...] -- CMD' is accepted");
		return EXIT_RUN_FAILED;
	}
	execvp(argv[1], argv + 1);
	if (errno == ENOENT) {
		arguments_refuse("run", "%s: no such program%s", argv[1],
				 strchr(argv[1], '/') ? "" : " in $PATH");
		return EXIT_NOT_FOUND;
	}
	arguments_refuse("run", "%s cannot be run: %s", argv[1], strerror(errno));
	return EXIT_CANNOT_EXECUTE;
}
