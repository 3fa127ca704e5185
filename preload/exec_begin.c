/* SPDX-License-Identifier: MIT */
/*
 * What has to be known before anything is executed, copied while the environment is still whole.
 * Earlier calls go to libc unchanged: their environment is what the program began with.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "environment.h"
#include "exec.h"
#include "own_memory.h"
#include "spawn_program.h"

static __attribute__((constructor)) void exec_begin(void)
{
	char absolute[PATH_MAX];
	Dl_info object;
	const char *path;

	exec_init();
	if (!dladdr((const void *)&exec_begin, &object) || !object.dli_fname)
		return;
	path = object.dli_fname;
	if (*path != '/')
		path = realpath(path, absolute);
	if (!path)
		return;
	own_memory_init();
	spawn_program_init(path);
	environment_init(path, environ);
}
