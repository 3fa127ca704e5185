/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a configuration's added instructions go, in one operation, for whoever wants to change it.
 */
#ifndef UMEMCG_BENCH_REPORT_EXPLAIN_H
#define UMEMCG_BENCH_REPORT_EXPLAIN_H

#include "report/result.h"

/**
 * profile_explain_print - by file, by symbol, and called from where
 * @out:           where to, in 80 columns unless names are longer
 * @base:          without what was added
 * @other:         with it; of the same workload and as many operations
 * @nr_operations: that both are of; 0: as the profiles say, else of one
 * @operation:     what one is called, as in "fault"
 * @error:         on -EINVAL one line
 *
 * Of the library it is user space alone. Each table goes on, the largest difference first, until
 * nearly all is explained (DIFFERENCE_EXPLAINED_PERCENT), and its last row is the rest.
 *
 * Return: 0; -EINVAL for a profile that contradicts itself; -ENOMEM.
 */
int profile_explain_print(FILE *out, const struct bench_profile *base,
			  const struct bench_profile *other, uint64_t nr_operations,
			  const char *operation, struct report_error *error);

#endif
