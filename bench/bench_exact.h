/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verb bench with the exact meter: from options to tables. */
#ifndef BENCH_BENCH_EXACT_H
#define BENCH_BENCH_EXACT_H

#include "options.h"
#include "targets/kernel/cgroup.h"

/**
 * bench_exact - measure, print tables, write results
 * @options: of the exact meter
 * @cgroup:  what was found on this system, for the record
 * @argv:    as of bench_main()
 *
 * Return: the exit status, as bench_main() has it; nothing measured is 2, since the kernel or the
 * emulator is what the user gave.
 */
int bench_exact(const struct bench_options *options, const struct cgroup *cgroup, char **argv);

/** bench_exact_get_kernel - fill the cache of kernels; returns the exit status */
int bench_exact_get_kernel(const struct bench_options *options);

#endif
