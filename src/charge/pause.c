/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "charge/flight.h"

void pause_briefly(unsigned int round)
{
	if (round < 16) {
#if defined(__x86_64__)
		__builtin_ia32_pause();
#endif
	} else if (round < 1024) {
		sched_yield();
	} else {
		/* The system call itself: libc's function is a cancellation point, this must not
		 * be. */
		syscall(SYS_nanosleep, &(struct timespec){ .tv_nsec = 50000 }, NULL);
	}
}
