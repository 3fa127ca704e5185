/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <string.h>
#include <unistd.h>

#include "exec.h"
#include "exec_search.h"

/* confstr(_CS_PATH), which is what libc searches without $PATH. */
#define DEFAULT_PATH "/bin:/usr/bin"

int exec_search_init(struct exec_search *search, const char *file)
{
	search->file = file;
	search->file_length = strlen(file);
	search->rest = DEFAULT_PATH;
	if (!search->file_length)
		return -ENOENT;
	if (strchr(file, '/')) {
		/* exec_search_next() is not asked. */
		search->rest = NULL;
		return 0;
	}
	if (search->file_length > NAME_MAX)
		return -ENAMETOOLONG;
	for (char **variable = environ; variable && *variable; variable++) {
		if (!strncmp(*variable, "PATH=", 5)) {
			search->rest = *variable + 5;
			break;
		}
	}
	return 0;
}

bool exec_search_next(struct exec_search *search)
{
	while (search->rest) {
		const char *folder = search->rest, *end = strchrnul(folder, ':');
		size_t length = (size_t)(end - folder);
		char *to = search->path;

		search->rest = *end ? end + 1 : NULL;
		if (length >= PATH_MAX)
			continue;
		/* An empty one is the working folder. */
		to = mempcpy(to, folder, length);
		if (length)
			*to++ = '/';
		memcpy(to, search->file, search->file_length + 1);
		return true;
	}
	return false;
}

/* What the kernel takes for no program may be a script without a first line that says so. */
static int run_by_shell(const char *path, char *const argv[], char *const envp[])
{
	size_t nr = 0;

	while (argv[nr])
		nr++;
	{
		char *shell_argv[nr + 3];
		const struct exec_call call = { .directory = AT_FDCWD,
						.path = _PATH_BSHELL,
						.argv = shell_argv,
						.envp = envp };

		shell_argv[0] = (char *)_PATH_BSHELL;
		shell_argv[1] = (char *)path;
		shell_argv[2] = NULL;
		/* With its NULL. */
		if (nr > 1)
			memcpy(shell_argv + 2, argv + 1, nr * sizeof(*argv));
		return exec_program(&call);
	}
}

static int run(const char *path, char *const argv[], char *const envp[])
{
	const struct exec_call call = {
		.directory = AT_FDCWD, .path = path, .argv = argv, .envp = envp
	};

	exec_program(&call);
	if (errno == ENOEXEC)
		run_by_shell(path, argv, envp);
	return -1;
}

/* Is a failure one of this file only, so that the search goes on? */
static bool is_of_file(int error)
{
	return error == EACCES || error == ENOENT || error == ESTALE || error == ENOTDIR ||
	       error == ENODEV || error == ETIMEDOUT;
}

int exec_search_program(const char *file, char *const argv[], char *const envp[])
{
	bool was_denied = false;
	struct exec_search search;
	int r = exec_search_init(&search, file);

	if (r < 0) {
		errno = -r;
		return -1;
	}
	if (!search.rest)
		return run(file, argv, envp);
	while (exec_search_next(&search)) {
		run(search.path, argv, envp);
		if (!is_of_file(errno))
			return -1;
		was_denied |= errno == EACCES;
	}
	if (was_denied)
		errno = EACCES;
	return -1;
}
