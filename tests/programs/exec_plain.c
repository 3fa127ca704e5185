/* SPDX-License-Identifier: MIT */
/* A library of somebody else's, for LD_PRELOAD, which has an execve() of its own. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int execve(const char *path, char *const argv[], char *const envp[])
{
	int (*next)(const char *path, char *const argv[], char *const envp[]);
	const char *log = getenv("UMEMCG_GROUP");
	int file = log ? open(log, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

	if (file >= 0 && write(file, "other\n", 6) != 6)
		abort();
	close(file);
	*(void **)&next = dlsym(RTLD_NEXT, "execve");
	return next(path, argv, envp);
}
