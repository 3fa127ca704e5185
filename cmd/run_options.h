/* SPDX-License-Identifier: MIT */
/* The command line of `umemcg run'. */
#ifndef UMEMCG_CMD_RUN_OPTIONS_H
#define UMEMCG_CMD_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/** struct run_limit - a limit that may not have been given */
struct run_limit {
	const char *text; /* NULL: not given */
	uint64_t nr_bytes;
};

struct run_options {
	const char *tree_name;
	const char *group; /* NULL: a fresh one */
	struct run_limit max, max_process, reserve;
	struct run_limit high, min, low;
	const char *oom_policy; /* NULL: not given */
	bool is_strict;
	bool wants_summary;
	const char *summary_file; /* NULL: standard error */
	char **command;           /* its words, a NULL behind them */
};

/** run_options_parse - 0; else what was wrong has been said */
int run_options_parse(int argc, char **argv, struct run_options *ret_options);

#endif
