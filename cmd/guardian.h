/* SPDX-License-Identifier: MIT */
/*
 * The guardian holds every listener, and does nothing. When the supervisor's process is gone, it
 * lets all calls go on, since a call on a listener that nobody holds fails with ENOSYS.
 *
 * A call that the supervisor took, and did not live to answer, can be answered by whoever knows its
 * id. The kernel numbers the calls of a listener one by one, so that the id of the last one taken
 * before, kept in memory that both share, leads to it. Only the very first call of a listener is
 * lost if the supervisor is killed in the instruction or two after taking it.
 */
#ifndef UMEMCG_CMD_GUARDIAN_H
#define UMEMCG_CMD_GUARDIAN_H

#include <stdint.h>

#include "listener.h"

/** Listeners whose last call is remembered; more are served, but with that gap. */
#define GUARDIAN_NR_PLACES 65536

/** struct guardian_link - the supervisor's side of it */
struct guardian_link {
	int channel; /* at its end the guardian's time has come */
	pid_t pid;
	uint64_t *last_ids; /* by the listener's descriptor in the supervisor; 0: none yet */
};

/**
 * guardian_create - fork it
 * @door: of door_open(); answered by the guardian once the supervisor is gone
 */
int guardian_create(int door, struct guardian_link *ret_link);

/** guardian_guard - give it a listener; before the program may run */
void guardian_guard(const struct guardian_link *link, int listener);

/** guardian_note - the supervisor has taken a call and is going to answer it */
static inline void guardian_note(const struct guardian_link *link, int listener,
				 const struct call *call)
{
	/* Relaxed: read only after this process has ended. */
	if (listener < GUARDIAN_NR_PLACES)
		__atomic_store_n(&link->last_ids[listener], call->id, __ATOMIC_RELAXED);
}

/**
 * guardian_leave - the supervisor ends, and its process does not
 *
 * If there is nobody left to guard, the guardian has ended and been waited for. Otherwise it lives
 * on, until the last of them has ended.
 */
void guardian_leave(struct guardian_link *link);

#endif
