/* SPDX-License-Identifier: MIT */
/*
 * fork, which fails where memory.fork = copy does not let the child in. All else that a fork means
 * for the account is done by the library's handlers.
 */
#include <errno.h>
#include <unistd.h>

#include "interpose.h"
#include "real.h"
#include "shared/attach.h"

interposed pid_t fork(void)
{
	static struct real real = { .name = "fork" };
	pid_t (*next)(void) = real_find(&real);
	pid_t pid;
	int r;

	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	r = attach_before_fork();
	if (r) {
		errno = r == -ENOSPC ? EAGAIN : ENOMEM;
		return -1;
	}
	pid = next();
	if (pid > 0)
		attach_fork_made(pid);
	if (pid < 0) {
		int error = errno;

		attach_fork_failed();
		errno = error;
	}
	return pid;
}
