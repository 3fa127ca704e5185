/* SPDX-License-Identifier: MIT */
#include "charge/pause.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/system.h"

/* For free(), too, which keeps errno. */
static void sleep_briefly(void)
{
	int saved_errno = errno;

	/* The system call itself: libc's function is a cancellation point, this must not be. */
	syscall(SYS_nanosleep, &(struct timespec){ .tv_nsec = 50000 }, NULL);
	errno = saved_errno;
}

void pause_briefly(unsigned int round)
{
	if (round < 16) {
#if defined(__x86_64__)
		__builtin_ia32_pause();
#endif
	} else if (round < 1024) {
		sched_yield();
	} else {
		sleep_briefly();
	}
}

bool pause_is_stalled(int64_t *start_ns)
{
	int64_t at_ns = (int64_t)system_now_ns();

	if (!*start_ns)
		*start_ns = at_ns;
	return at_ns - *start_ns > PAUSE_STALL_NS;
}
