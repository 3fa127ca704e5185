/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `umemcg bench --explain` prints. */
#ifndef BENCH_OUTPUT_EXPLAIN_H
#define BENCH_OUTPUT_EXPLAIN_H

#include "output.h"

/**
 * output_explain - for each kernel, from which functions and calls a configuration's cost comes
 * @output: of the exact meter; its result has profiles with calls
 *
 * On standard output; the files that were asked for are written too.
 *
 * Return: 0; 1, and it was said on standard error what failed.
 */
int output_explain(const struct output *output);

#endif
