/* SPDX-License-Identifier: MIT */
/* Forks as many children as its first argument says, each of which takes as many KiB as the second
 * says and keeps it. Those that are refused say so. When all have asked it says "asked", and lets
 * them go at the end of its input. Prints how many there were, how many forks failed, and how many
 * children were refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(size_t nr_bytes, int said, int gate)
{
	static const char refused[] = "a child was refused\n";
	char *p = malloc(nr_bytes);
	char byte = 0;

	if (p)
		memset(p, 1, nr_bytes);
	else if (write(STDERR_FILENO, refused, sizeof(refused) - 1) < 0)
		return 4;
	if (write(said, &byte, 1) != 1)
		return 5;
	if (!p)
		return 3;
	/* It ends when the parent closes its end. */
	return read(gate, &byte, 1) == 0 ? 0 : 6;
}

int main(int argc, char **argv)
{
	int nr_wanted = argc > 2 ? atoi(argv[1]) : 0;
	size_t nr_bytes = argc > 2 ? strtoul(argv[2], NULL, 10) << 10 : 0;
	int nr_failed = 0, nr_refused = 0, nr_others = 0, nr_started = 0;
	int gate[2], said[2], status;
	char byte;

	if (pipe(gate) || pipe(said))
		return 2;
	for (int i = 0; i < nr_wanted; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			close(gate[1]);
			_exit(child(nr_bytes, said[1], gate[0]));
		}
		if (pid < 0)
			nr_failed++;
		else
			nr_started++;
	}
	for (int i = 0; i < nr_started; i++)
		if (read(said[0], &byte, 1) != 1)
			return 2;
	puts("asked");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	close(gate[1]);
	while (wait(&status) > 0) {
		if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
			nr_refused++;
		else if (status)
			nr_others++;
	}
	printf("%d started, %d not forked, %d refused, %d others\n", nr_started, nr_failed,
	       nr_refused, nr_others);
	return nr_others ? 1 : 0;
}
