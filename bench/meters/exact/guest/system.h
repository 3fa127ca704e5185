/* SPDX-License-Identifier: MIT */
/* Making a bare kernel fit to be measured: what init does before and between the blocks. */
#ifndef BENCH_METERS_EXACT_GUEST_SYSTEM_H
#define BENCH_METERS_EXACT_GUEST_SYSTEM_H

/**
 * system_start - mounts, devices, settings; then wait until the kernel has settled
 *
 * What a kernel does not offer is done without: the same kernel offers the same in every
 * configuration.
 */
void system_start(void);

/** system_calm - before a block: nothing of the last one goes on, no random generator is due */
void system_calm(void);

/** system_power_off - never returns */
__attribute__((noreturn)) void system_power_off(void);

#endif
