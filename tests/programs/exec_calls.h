/* SPDX-License-Identifier: MIT */
/* What the two halves of exec_calls.c share. Each call returns the program's exit status. */
#ifndef UMEMCG_TESTS_EXEC_CALLS_H
#define UMEMCG_TESTS_EXEC_CALLS_H

#include <sys/types.h>

extern char *nothing[];  /* an environment without anything */
extern char **arguments; /* PROGRAM ARGUMENT... */

/** wait_for - exit status of a child; 100 and its signal; 99 if there is none */
int wait_for(pid_t child);

/** failed - print errno; 1 */
int failed(void);

int call_vfork_loop(void);
int call_vfork_fail(void);
int call_thread(void);
int call_small_stack(void);
int call_big(void);
int call_vfork_big(void);
int call_big_fail(void);
int call_too_big(void);

#endif
