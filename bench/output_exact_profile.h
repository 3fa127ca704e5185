/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of an exact run's result that are no series: where it was made, and profiles. */
#ifndef BENCH_OUTPUT_EXACT_PROFILE_H
#define BENCH_OUTPUT_EXACT_PROFILE_H

#include "output_exact.h"

/** output_exact_environment - set a result's environment and notes; returns 0 or -ENOMEM */
int output_exact_environment(struct bench_result *result, const struct exact_output *output);

/**
 * output_exact_profile - add the profile of one block
 * @result:      to which it is added
 * @output:      the run
 * @suite:       the block's
 * @boot:        the block's
 * @block:       with profiles
 * @part:        which of the two
 * @ret_profile: without parameters
 *
 * Tasks and work put off go to their functions: all of the kernel's, with user space as one sum, or
 * all of the library's and the guest's. What else ran between the marks, interrupts among it, is in
 * the total alone.
 *
 * Return: 0; -ENOMEM.
 */
int output_exact_profile(struct bench_result *result, const struct exact_output *output,
			 const struct exact_suite *suite, const struct exact_boot *boot,
			 const struct exact_block *block, enum bench_part part,
			 struct bench_profile **ret_profile);

#endif
