/* SPDX-License-Identifier: MIT */
/* The summary of a run, for people and for programs. */
#ifndef UMEMCG_CMD_RUN_SUMMARY_PRINT_H
#define UMEMCG_CMD_RUN_SUMMARY_PRINT_H

#include "run_summary.h"

/** run_summary_print - in words, on standard error */
void run_summary_print(const struct run_summary *summary);

/** run_summary_print_json - into its file */
void run_summary_print_json(const struct run_summary *summary);

#endif
