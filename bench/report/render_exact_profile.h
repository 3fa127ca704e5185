/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The short form of profiles that stands below the prices of operations. */
#ifndef UMEMCG_BENCH_REPORT_RENDER_EXACT_PROFILE_H
#define UMEMCG_BENCH_REPORT_RENDER_EXACT_PROFILE_H

#include "report/comparison.h"

/**
 * render_exact_profiles - where the instructions of one configuration went
 * @comparison: of the exact meter
 * @out:        where to
 * @error:      on -EINVAL one line
 *
 * For each result, target, kernel and version of cgroups the first workload's profile in one
 * configuration: the files that account whole, and for the rest what differs from the base. Of
 * several kernels, for every workload what differs from the first.
 *
 * Return: 0; -EINVAL for a profile that contradicts itself; -ENOMEM.
 */
int render_exact_profiles(const struct comparison *comparison, FILE *out,
			  struct report_error *error);

#endif
