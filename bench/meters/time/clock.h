/* SPDX-License-Identifier: MIT */
/* The time meter's clock: it runs at one rate, whatever adjusts the time of day. */
#ifndef BENCH_METERS_TIME_CLOCK_H
#define BENCH_METERS_TIME_CLOCK_H

#include <time.h>

static inline double clock_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#endif
