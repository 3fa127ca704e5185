/* SPDX-License-Identifier: MIT */
/*
 * Accounting from outside of programs that the preload object cannot reach: a thread of
 * `umemcg run' that answers for them.
 */
#ifndef UMEMCG_CMD_SUPERVISE_H
#define UMEMCG_CMD_SUPERVISE_H

#include <stdint.h>

/**
 * supervise_start - be ready for such programs
 * @tree_name, @group: where they belong
 * @process_max:       limit of each; UMEMCG_MAX: none
 * @ret_value:         of $UMEMCG_SUPERVISOR for the program; lives until supervise_stop()
 *
 * Return: 0; -errno: there is none, and such programs are named when they are executed.
 */
int supervise_start(const char *tree_name, const char *group, uint64_t process_max,
		    const char **ret_value);

/** supervise_stop - those that live on go on unaccounted */
void supervise_stop(void);

#endif
