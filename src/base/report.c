/* SPDX-License-Identifier: MIT */
#include "base/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"

static const char prefix[] = "umemcg: ";

cold void report(const char *format, ...)
{
	int saved_errno = errno;
	char line[512];
	size_t length = sizeof(prefix) - 1;
	va_list args;
	int wanted;

	memcpy(line, prefix, length);
	va_start(args, format);
	/* Room stays for the line end; a longer line is cut. */
	wanted = vsnprintf(line + length, sizeof(line) - length - 1, format, args);
	va_end(args);
	if (wanted > 0)
		length += min((size_t)wanted, sizeof(line) - length - 2);
	line[length++] = '\n';
	/*
	 * One write, so that lines of several threads do not mix; nobody to tell if it fails. The
	 * system call itself: libc's function is a cancellation point.
	 */
	if (syscall(SYS_write, STDERR_FILENO, line, length) < 0)
		errno = saved_errno;
	errno = saved_errno;
}
