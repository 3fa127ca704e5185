/* SPDX-License-Identifier: MIT */
#include "shared/tracer.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/system.h"
#include "shared/slot.h"

/* The line is among the first ten or so; the name above it is cut by the kernel. */
#define STATUS_BYTES 512

static pid_t tracer_of_this_thread(void)
{
	static const char label[] = "\nTracerPid:\t";
	char text[STATUS_BYTES];
	ssize_t length = system_read_file("/proc/thread-self/status", text, sizeof(text) - 1);
	const char *digit;
	pid_t pid = 0;

	text[length > 0 ? length : 0] = '\0';
	digit = strstr(text, label);
	if (!digit)
		return 0;
	for (digit += sizeof(label) - 1; *digit >= '0' && *digit <= '9'; digit++)
		pid = pid * 10 + (*digit - '0');
	return pid;
}

/* Of a thread that was traced from its beginning, which is the usual case, it never changes. */
bool tracer_is_inside(const struct segment *segment)
{
	static __thread struct {
		time_t due_s;
		bool is_inside;
	} seen __attribute__((tls_model("initial-exec")));
	struct timespec now;

	/* From the vdso: no system call. */
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_sec >= seen.due_s) {
		int saved_errno = errno;
		pid_t tracer = tracer_of_this_thread();

		seen.is_inside = tracer && slot_find(segment, tracer);
		seen.due_s = now.tv_sec + TRACER_LOOK_S;
		errno = saved_errno;
	}
	return seen.is_inside;
}
