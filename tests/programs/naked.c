/* SPDX-License-Identifier: MIT */
/* Executes a program, its arguments, with an environment of nothing, which loses what was
 * preloaded. */
#include <stddef.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char *nothing[] = { NULL };

	if (argc < 2)
		return 2;
	execve(argv[1], argv + 1, nothing);
	return 127;
}
