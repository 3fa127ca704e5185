/* SPDX-License-Identifier: MIT */
/*
 * Waiting for another thread or process: round after round, each a little longer, with a look now
 * and then at whether it still lives, and at whether it has been stopped.
 */
#ifndef UMEMCG_CHARGE_PAUSE_H
#define UMEMCG_CHARGE_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

/* Rounds between two looks: what is asked then costs some microseconds, most waits none. */
#define PAUSE_ROUNDS_A_LOOK 64u

/* How long another may stay where it is, living, before it is taken for stopped. */
#define PAUSE_STALL_NS 1000000000ll

/** pause_briefly - wait a little, longer from round to round; keeps errno */
void pause_briefly(unsigned int round);

/** pause_is_look - is this a round after which to look? Not the first one */
static inline bool pause_is_look(unsigned int round)
{
	return round % PAUSE_ROUNDS_A_LOOK == PAUSE_ROUNDS_A_LOOK - 1;
}

/**
 * pause_is_stalled - at a look: has the wait lasted too long?
 * @start_ns: 0 before the first look; kept for the next ones
 */
bool pause_is_stalled(int64_t *start_ns);

#endif
