/* SPDX-License-Identifier: MIT */
/* A line on standard error while it is a terminal: what runs, how far, how long still. */
#include <stdio.h>
#include <unistd.h>

#include "progress.h"

/* Back to the first column, and whatever stood there is gone. */
#define START_OVER "\r\033[K"

void progress_show(double done, double left_s, const char *what)
{
	if (!isatty(STDERR_FILENO))
		return;
	done = done < 0 ? 0 : done > 1 ? 1 : done;
	fprintf(stderr, START_OVER "%3.0f %%  %.48s", done * 100, what);
	if (left_s > 0)
		fprintf(stderr, "  about %.0f s left", left_s);
}

void progress_clear(void)
{
	if (isatty(STDERR_FILENO))
		fputs(START_OVER, stderr);
}
