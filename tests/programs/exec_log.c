/* SPDX-License-Identifier: MIT */
/*
 * Stands in for what the preload object calls around an exec, and for the object's presence: each
 * leaves a line in the file that $UMEMCG_GROUP names, a variable that children cannot lose.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "tell.h"

static char log_path[4096];
static bool accepts;

static void line(const char *what, const char *which, const char *why)
{
	int file = open(log_path, O_WRONLY | O_APPEND | O_CLOEXEC);
	char text[4096];
	int length = snprintf(text, sizeof(text), "%s %d %s%s%s\n", what, (int)getpid(), which,
			      *why ? ": " : "", why);

	if (file < 0)
		return;
	if (write(file, text, (size_t)length) < 0)
		abort();
	close(file);
}

static __attribute__((constructor)) void log_begin(void)
{
	const char *path = getenv("UMEMCG_GROUP"), *supervisor = getenv("UMEMCG_SUPERVISOR");

	snprintf(log_path, sizeof(log_path), "%s", path ? path : "");
	accepts = supervisor && !strcmp(supervisor, "accepts");
	line("began", program_invocation_short_name, "");
}

int filter_prepare(const char *name)
{
	line("filter", name, "");
	return accepts ? 0 : -ENOSYS;
}

const char *filter_reason(int error)
{
	return error == -ENOSYS ? "the filter said no" : "?";
}

void tell_unseen(const char *program, const char *why)
{
	line("unseen", program, why);
}
