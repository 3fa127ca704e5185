/* SPDX-License-Identifier: MIT */
/* Verbs of the command: each gets its own name in argv[0], and returns the exit status. */
#ifndef UMEMCG_CMD_VERB_H
#define UMEMCG_CMD_VERB_H

/** Exit statuses besides EXIT_SUCCESS and EXIT_FAILURE; those of run are env(1)'s. */
enum verb_exit {
	EXIT_WRONG_INPUT = 2,
	EXIT_RUN_FAILED = 125,
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NOT_FOUND = 127,
};

/** verb_lab - `umemcg bench' and `umemcg compare': become umemcg-bench; returns if it cannot */
int verb_lab(int argc, char **argv);

int verb_run(int argc, char **argv);
int verb_ls(int argc, char **argv);
int verb_get(int argc, char **argv);
int verb_set(int argc, char **argv);
int verb_rm(int argc, char **argv);
int verb_ps(int argc, char **argv);
int verb_events(int argc, char **argv);

/** verb_run_program - what `umemcg run' starts as, in the group and under the preload object */
int verb_run_program(int argc, char **argv);

/** verb_complete - words for a shell that completes: trees, groups [TREE], files */
int verb_complete(int argc, char **argv);

#endif
