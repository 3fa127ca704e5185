/* SPDX-License-Identifier: MIT */
/*
 * Memory pressure of the group, told to programs that ask by $MEMORY_PRESSURE_WATCH, as services
 * of systemd do.
 *
 * The variable names a stream socket: who connects writes a trigger of PSI's grammar (what
 * $MEMORY_PRESSURE_WRITE decodes to is one), and is sent a byte whenever threads of the group have
 * waited for memory for as long as the trigger says. The socket has no name in a folder: it is
 * reached through this process's descriptor, and so is gone with it.
 */
#ifndef UMEMCG_CMD_RUN_PRESSURE_H
#define UMEMCG_CMD_RUN_PRESSURE_H

#include "place.h"

/** run_pressure_start - serve the group from a thread of its own, and set both variables; does
 * nothing if the environment has the first one already. 0 or a negative errno */
int run_pressure_start(const struct place *place);

/** run_pressure_stop - whether it was started or not */
void run_pressure_stop(void);

#endif
