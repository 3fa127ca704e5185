/* SPDX-License-Identifier: MIT */
/* A worker is led through a command instruction by instruction, so that it can be killed at any. */
#ifndef UMEMCG_TESTS_RACE_SHARED_STEP_H
#define UMEMCG_TESTS_RACE_SHARED_STEP_H

#include <stdbool.h>

#include "shared_workers.h"

/** step_is_possible - false where tracing is forbidden */
bool step_is_possible(void);

/** step_begin - a worker, ready, is told a command, and stops where that begins
 *
 * One that becomes another program stops where that opens the tree.
 */
void step_begin(const struct worker *worker, enum command command, uint64_t argument);

/** step_on - so many instructions, system calls being one each; how many it were to its end */
unsigned int step_on(const struct worker *worker, unsigned int nr_steps);

/** step_to_child - until it has forked; the child has run nothing yet, and is stopped, too */
pid_t step_to_child(const struct worker *worker, enum command command);

/** step_release - who was stopped runs freely from now on */
void step_release(pid_t pid);

#endif
