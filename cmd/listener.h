/* SPDX-License-Identifier: MIT */
/* Seccomp listeners, where the kernel asks about calls. Supervisor and guardian both serve them. */
#ifndef UMEMCG_CMD_LISTENER_H
#define UMEMCG_CMD_LISTENER_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** struct call - what a thread waits to be allowed */
struct call {
	uint64_t id;
	pid_t tid; /* 0: the thread lives in a pid namespace that cannot be seen from here */
	int number;
	uint64_t args[6];
};

/** listener_hurry - ask the kernel, if it can, to switch to and fro on one processor */
void listener_hurry(int listener);

/**
 * listener_receive - take the next call; only after poll() said that there is one
 *
 * Return: 0; -ENOENT if its thread has been killed meanwhile.
 */
int listener_receive(int listener, struct call *ret_call);

/** listener_waits - does the thread still wait? What /proc said of its pid before is true then */
bool listener_waits(int listener, const struct call *call);

/** listener_allow - let the call go on; -ENOENT if its thread no longer waits */
int listener_allow(int listener, const struct call *call);

/** listener_answer - let it return @value, or fail with -@error, instead; as listener_allow() */
int listener_answer(int listener, const struct call *call, int64_t value, int error);

#endif
