/* SPDX-License-Identifier: MIT */
/* One boot of a ladder: from the plan to a guest, and from what it left to figures. */
#ifndef BENCH_METERS_EXACT_LADDER_BOOT_H
#define BENCH_METERS_EXACT_LADDER_BOOT_H

#include "meters/exact/emulator.h"
#include "meters/exact/exact_folder.h"
#include "meters/exact/exact_plan.h"

/**
 * ladder_boot_start - start the guest of a boot
 * @plan:         the boot's
 * @folder:       made
 * @boot:         waits
 * @slowness:     by how much busy processors slow a guest down, at least 1
 * @ret_emulator: for emulator_finish()
 * @error:        on failure one line, EXACT_ERROR bytes
 *
 * Return: 0 or a negative errno.
 */
int ladder_boot_start(const struct exact_plan *plan, const struct exact_folder *folder,
		      const struct exact_boot *boot, double slowness,
		      struct emulator **ret_emulator, char *error);

/**
 * ladder_boot_read - read what an ended guest left
 * @plan:     the boot's; blocks that failed are added to what it skipped
 * @boot:     gets its blocks
 * @emulator: has ended
 * @error:    on failure a line, and behind it the console's last ones; EXACT_ERROR bytes
 *
 * Return: 0 or a negative errno.
 */
int ladder_boot_read(struct exact_plan *plan, struct exact_boot *boot, struct emulator *emulator,
		     char *error);

#endif
