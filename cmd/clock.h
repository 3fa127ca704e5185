/* SPDX-License-Identifier: MIT */
/* The system's clocks as one number. */
#ifndef UMEMCG_CMD_CLOCK_H
#define UMEMCG_CMD_CLOCK_H

#include <stdint.h>
#include <time.h>

/** clock_ns - nanoseconds of a clock; of the calling thread for CLOCK_THREAD_CPUTIME_ID */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
