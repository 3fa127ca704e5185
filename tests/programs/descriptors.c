/* SPDX-License-Identifier: MIT */
/* Closes every descriptor that it has not opened itself, as daemons do, and is limited afterwards
 * as before, and so is a child of it. Its limit is below 400 MiB. The exit status says what was not
 * so. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP     (1 << 20)
#define NR_STEPS 400

/* 0 if it was refused something, and could go on with what fits. */
static int grow(void)
{
	static void *held[NR_STEPS];
	int nr_had = 0;
	void *small;

	while (nr_had < NR_STEPS && (held[nr_had] = malloc(STEP)))
		memset(held[nr_had++], 1, STEP);
	if (nr_had == NR_STEPS)
		return 10;
	if (nr_had < 20 || errno != ENOMEM)
		return 11;
	while (nr_had)
		free(held[--nr_had]);
	small = malloc(STEP);
	free(small);
	return small ? 0 : 12;
}

int main(void)
{
	int status;
	pid_t pid;

	for (int descriptor = 0; descriptor < 4096; descriptor++)
		close(descriptor);
	status = grow();
	if (status)
		return status;
	pid = fork();
	if (pid == 0)
		_exit(grow());
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 20;
	return WEXITSTATUS(status) ? WEXITSTATUS(status) + 20 : 0;
}
