/* SPDX-License-Identifier: MIT */
/* The functions that execute a file that is named, by a path or a descriptor. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <unistd.h>

#include "exec.h"
#include "exec_search.h"
#include "interpose.h"

interposed int execve(const char *path, char *const argv[], char *const envp[])
{
	const struct exec_call call = {
		.directory = AT_FDCWD, .path = path, .argv = argv, .envp = envp
	};

	return exec_program(&call);
}

interposed int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

interposed int execveat(int directory, const char *path, char *const argv[], char *const envp[],
			int flags)
{
	const struct exec_call call = {
		.directory = directory, .path = path, .flags = flags, .argv = argv, .envp = envp
	};

	return exec_program(&call);
}

interposed int fexecve(int file, char *const argv[], char *const envp[])
{
	if (file < 0 || !envp) {
		errno = EINVAL;
		return -1;
	}
	return execveat(file, "", argv, envp, AT_EMPTY_PATH);
}

interposed int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return exec_search_program(file, argv, envp);
}

interposed int execvp(const char *file, char *const argv[])
{
	return exec_search_program(file, argv, environ);
}

/* The number of a list's arguments, without the NULL; -1 if they are more than an int can count. */
static int count(const char *first, va_list arguments)
{
	va_list copy;
	int nr = 0;

	va_copy(copy, arguments);
	for (const char *argument = first; argument && nr >= 0; nr++)
		argument = nr == INT_MAX - 1 ? NULL : va_arg(copy, const char *);
	va_end(copy);
	if (nr < INT_MAX)
		return nr;
	errno = E2BIG;
	return -1;
}

typedef int execute_function(const char *file, char *const argv[], char *const envp[]);

/*
 * A list of arguments is copied on the stack, since nothing else is at hand in a child of vfork.
 * @names_environment: it is in the list, behind the NULL.
 */
static int execute_list(execute_function *execute, const char *file, bool names_environment,
			const char *first, va_list arguments)
{
	int nr = count(first, arguments);

	if (nr < 0)
		return -1;
	{
		char *argv[nr + 1];

		argv[0] = (char *)first;
		for (int i = 1; i <= nr; i++)
			argv[i] = va_arg(arguments, char *);
		return execute(file, argv,
			       names_environment ? va_arg(arguments, char **) : environ);
	}
}

interposed int execl(const char *path, const char *argument, ...)
{
	va_list arguments;
	int r;

	va_start(arguments, argument);
	r = execute_list(execve, path, false, argument, arguments);
	va_end(arguments);
	return r;
}

interposed int execlp(const char *file, const char *argument, ...)
{
	va_list arguments;
	int r;

	va_start(arguments, argument);
	r = execute_list(exec_search_program, file, false, argument, arguments);
	va_end(arguments);
	return r;
}

interposed int execle(const char *path, const char *argument, ...)
{
	va_list arguments;
	int r;

	va_start(arguments, argument);
	r = execute_list(execve, path, true, argument, arguments);
	va_end(arguments);
	return r;
}
