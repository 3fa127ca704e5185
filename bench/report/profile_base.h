/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With which other profile of a comparison one is compared. */
#ifndef UMEMCG_BENCH_REPORT_PROFILE_BASE_H
#define UMEMCG_BENCH_REPORT_PROFILE_BASE_H

#include "report/comparison.h"

/* The parameter that tells kernels in one result apart. */
#define PARAM_KERNEL "kernel"

struct profile_place {
	size_t run; /* index of its result */
	const struct bench_profile *profile;
};

/**
 * profile_find_base - the profile of the base configuration
 * @comparison: whose options say which that is
 * @place:      of what
 * @ret_base:   of the same workload, part, meter and parameters
 *
 * As of a cell of a table: the same configuration in the first result if they are compared across;
 * else the base that was asked for, in the own result or any; else base-NotCompiled in the own or
 * any, disabled, or the first of the own result. Of what an emulator counted the machine is none of
 * the result's, so any other result will do.
 *
 * Return: false if there is none, or it is the base itself.
 */
bool profile_find_base(const struct comparison *comparison, const struct profile_place *place,
		       struct profile_place *ret_base);

/** profile_find_kernel - the profile of its result's first kernel, all else the same; as above */
bool profile_find_kernel(const struct comparison *comparison, const struct profile_place *place,
			 struct profile_place *ret_base);

#endif
