/* SPDX-License-Identifier: MIT */
/* Carrying an exact plan out: its boots, several side by side. */
#ifndef BENCH_METERS_EXACT_LADDER_H
#define BENCH_METERS_EXACT_LADDER_H

#include "meters/exact/exact_folder.h"
#include "meters/exact/exact_plan.h"

/**
 * ladder_run - boot everything in the plan
 * @plan:            its boots get their blocks; what failed is added to what is skipped, and said
 *                   on standard error, with what the guest's console had last
 * @folder:          made
 * @nr_side_by_side: guests at a time, at least 1; counts do not depend on it
 *
 * A signal that sets block_interrupted ends it early, with what was measured.
 *
 * Return: 0; -ENOMEM.
 */
int ladder_run(struct exact_plan *plan, const struct exact_folder *folder,
	       unsigned int nr_side_by_side);

/** ladder_width - how many guests this machine can run side by side: by processors and memory */
unsigned int ladder_width(void);

#endif
