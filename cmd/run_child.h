/* SPDX-License-Identifier: MIT */
/*
 * The program's process: this command once more, as the hidden verb run-program, under the preload
 * object. That verb executes the program, so that the object decides about the first program as it
 * does about all that come after it.
 */
#ifndef UMEMCG_CMD_RUN_CHILD_H
#define UMEMCG_CMD_RUN_CHILD_H

#include <sys/types.h>

#include "place.h"
#include "run_options.h"
#include "run_wait.h"

/** struct run_environment - what the program finds in its environment, besides what is there */
struct run_environment {
	const char *tree_name, *group;
	const char *supervisor; /* NULL: none */
	uint64_t process_max;   /* UMEMCG_MAX: none */
	bool is_strict;
};

/**
 * run_child_find_object - find the preload object
 *
 * Return: its path, to be freed; NULL if there is none, which has been said.
 */
char *run_child_find_object(void);

/** run_child_prepare - change this process's environment to the program's; 0 or -ENOMEM */
int run_child_prepare(const struct run_environment *environment, const char *object);

/** run_child_start - start it; 0 or a negative errno */
int run_child_start(char *const *command, const struct run_wait *wait, pid_t *ret_pid);

#endif
