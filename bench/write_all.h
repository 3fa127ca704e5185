/* SPDX-License-Identifier: MIT */
/* Writing to the end: write(2) may stop before it, or be interrupted by a signal. */
#ifndef BENCH_WRITE_ALL_H
#define BENCH_WRITE_ALL_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/** write_all - write all of @content; returns 0 or the negative errno of a write that failed */
static inline int write_all(int fd, const char *content, size_t nr_bytes)
{
	while (nr_bytes) {
		ssize_t nr_written = write(fd, content, nr_bytes);

		if (nr_written < 0 && errno == EINTR)
			continue;
		if (nr_written < 0)
			return -errno;
		content += nr_written;
		nr_bytes -= (size_t)nr_written;
	}
	return 0;
}

#endif
