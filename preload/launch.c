/* SPDX-License-Identifier: MIT */
/*
 * umemcg-launch FILE ARGUMENT0 ARGUMENT...: what the preload object spawns in place of a program
 * that has to be accounted from outside. The object is in this one, and prepares the exec.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Exit statuses are env(1)'s. */
int main(int argc, char **argv)
{
	int error;

	if (argc < 2)
		return 125;
	execv(argv[1], argv + 2);
	error = errno;
	fprintf(stderr, "umemcg: %s: %s\n", argv[1], strerror(error));
	return error == ENOENT ? 127 : 126;
}
