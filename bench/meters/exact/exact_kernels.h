/* SPDX-License-Identifier: MIT */
/* The kernels of one run, with their symbols, and the source files of their functions. */
#ifndef BENCH_METERS_EXACT_EXACT_KERNELS_H
#define BENCH_METERS_EXACT_EXACT_KERNELS_H

#include "meters/exact/exact_folder.h"
#include "meters/exact/files.h"
#include "meters/exact/kernels.h"
#include "options.h"

struct exact_kernels {
	struct kernel kernels[OPTIONS_NR_KERNELS];
	struct files *files[OPTIONS_NR_KERNELS];
	char why_no_files[OPTIONS_NR_KERNELS][FILES_ERROR]; /* of some or all symbols, or "" */
	size_t nr_kernels;
};

/**
 * exact_kernels_open - find and check the kernels that were asked for, or one where none was
 * @exact:       with names of kernels and of debug information
 * @ret_kernels: without symbols; for exact_kernels_close()
 * @error:       on failure one line, EXACT_ERROR bytes
 *
 * Return: 0; a negative errno, and nothing is left open.
 */
int exact_kernels_open(const struct exact_options *exact, struct exact_kernels *ret_kernels,
		       char *error);

/**
 * exact_kernels_load - fill in their symbols, which may take a boot each, and source files
 * @kernels: opened
 * @folder:  made: its image is booted
 * @error:   on failure a line, and behind it what the guest's console had last; EXACT_ERROR bytes
 *
 * Return: 0; a negative errno; -EINTR for a signal.
 */
int exact_kernels_load(struct exact_kernels *kernels, const struct exact_folder *folder,
		       char *error);

void exact_kernels_close(struct exact_kernels *kernels);

#endif
