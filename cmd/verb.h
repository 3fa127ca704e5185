/* SPDX-License-Identifier: MIT */
/* Verbs of the command: each gets its own name in argv[0], and returns the exit status. */
#ifndef UMEMCG_CMD_VERB_H
#define UMEMCG_CMD_VERB_H

/** verb_lab - `umemcg bench' and `umemcg compare': become umemcg-bench; returns if it cannot */
int verb_lab(int argc, char **argv);

#endif
