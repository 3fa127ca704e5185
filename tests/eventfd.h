/* SPDX-License-Identifier: MIT */
/* What an eventfd of a subscription tells: at once, or within a time that no working one needs. */
#ifndef UMEMCG_TESTS_EVENTFD_H
#define UMEMCG_TESTS_EVENTFD_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#define EVENTFD_PATIENCE_MS 20000

/** eventfd_take - events that it tells now; 0: none */
static inline uint64_t eventfd_take(int fd)
{
	uint64_t nr_events;

	return read(fd, &nr_events, sizeof(nr_events)) == sizeof(nr_events) ? nr_events : 0;
}

/** eventfd_wait - events that it tells, as soon as it does; 0: it never did */
static inline uint64_t eventfd_wait(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, EVENTFD_PATIENCE_MS) == 1 ? eventfd_take(fd) : 0;
}

/** eventfd_wait_sum - until it has told so many events, but for any that are too many; the sum */
static inline uint64_t eventfd_wait_sum(int fd, uint64_t nr_events)
{
	uint64_t sum = 0, nr_new;

	while (sum < nr_events && (nr_new = eventfd_wait(fd)))
		sum += nr_new;
	return sum;
}

/** eventfd_is_quiet - it tells nothing for so long; what would be told late comes within that */
static inline bool eventfd_is_quiet(int fd, int nr_ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, nr_ms) == 0;
}

static inline uint64_t eventfd_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
