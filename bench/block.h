/* SPDX-License-Identifier: MIT */
/* Running one block as a process of its own: a worker of the lab, or a command of the user's. */
#ifndef BENCH_BLOCK_H
#define BENCH_BLOCK_H

#include <signal.h>

#include "protocol.h"

struct block_request {
	const char *program; /* to execute; argv[0] is given apart */
	char *const *argv;
	const char *command_line;   /* UMEMCG_CMDLINE, or NULL for none */
	const char *procs;          /* cgroup.procs of the group to run in, or NULL to stay */
	const char *tree_directory; /* of the shared tree that it is a leaf of, or NULL */
	double timeout_s;           /* 0 for none */
};

/** block_interrupted - set by a signal's handler: the block in flight is ended, no other starts */
extern volatile sig_atomic_t block_interrupted;

/**
 * block_run_worker - run a worker, which is told by --report-fd where to report
 * @request:   as above
 * @ret_block: what it reported; on failure its error says in a line what happened
 *
 * Nothing that it started is left when this returns.
 *
 * Return: 0; -EINTR if interrupted; another negative errno.
 */
int block_run_worker(const struct block_request *request, struct protocol_block *ret_block);

/**
 * block_run_command - run a command, its output thrown away
 *
 * As block_run_worker(); metric 0 is the elapsed time in seconds. An exit status other than 0 is
 * a failure.
 */
int block_run_command(const struct block_request *request, struct protocol_block *ret_block);

#endif
