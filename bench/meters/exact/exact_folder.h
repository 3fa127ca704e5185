/* SPDX-License-Identifier: MIT */
/*
 * What all boots of an exact run share, in a temporary directory: the guest's images, and for each
 * kernel and program the list of symbols that the plug-in counts by.
 */
#ifndef BENCH_METERS_EXACT_EXACT_FOLDER_H
#define BENCH_METERS_EXACT_EXACT_FOLDER_H

#include <limits.h>
#include <stdbool.h>

#include "meters/exact/kernels.h"
#include "meters/exact/temporary_folder.h"
#include "workloads/workload.h"

#define EXACT_ERROR 2560

struct exact_folder {
	struct temporary_folder temporary;
	/* The programs in which blocks run: with the library, and with one without controller. */
	char guests[2][PATH_MAX];
	const char *program; /* the user's, or NULL */
};

/**
 * exact_why_not - why nothing can be counted here
 *
 * Return: a line (no emulator, no plug-in, no guest), or NULL if it can.
 */
const char *exact_why_not(void);

/**
 * exact_folder_make - make the directory and the images, where exact_why_not() has no objection
 * @program:    path of a static program that is to be the workload, or NULL
 * @ret_folder: for exact_folder_remove()
 * @error:      on failure one line, EXACT_ERROR bytes
 *
 * Return: 0; a negative errno.
 */
int exact_folder_make(const char *program, struct exact_folder *ret_folder, char *error);

/** exact_folder_remove - the directory and all in it; also one that was not made */
void exact_folder_remove(struct exact_folder *folder);

/** exact_folder_image - path of the image with one of the guests; PATH_MAX bytes */
void exact_folder_image(const struct exact_folder *folder, bool not_compiled, char *ret_path);

/**
 * exact_folder_symbols - path of a list of symbols, which is written if it is not there yet
 * @folder:       made
 * @kernel:       with its symbols
 * @target:       lib: the guest's functions too
 * @not_compiled: lib: of which guest
 * @ret_path:     PATH_MAX bytes
 * @error:        on failure one line, EXACT_ERROR bytes
 *
 * Return: 0 or a negative errno.
 */
int exact_folder_symbols(const struct exact_folder *folder, const struct kernel *kernel,
			 enum workload_target target, bool not_compiled, char *ret_path,
			 char *error);

#endif
