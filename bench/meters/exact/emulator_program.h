/* SPDX-License-Identifier: MIT */
/* The emulator that is installed here, and the command line it boots a guest with. */
#ifndef BENCH_METERS_EXACT_EMULATOR_PROGRAM_H
#define BENCH_METERS_EXACT_EMULATOR_PROGRAM_H

#include <limits.h>

#include "meters/exact/emulator.h"

/* In the guest's directory, which the emulator runs in. */
#define EMULATOR_FILE_JOB     "job"
#define EMULATOR_FILE_CONSOLE "console"
#define EMULATOR_FILE_ANSWER  "answer"
#define EMULATOR_FILE_COUNTS  "counts"
#define EMULATOR_FILE_OUTPUT  "output" /* the emulator's own */

#define EMULATOR_NR_ARGUMENTS 64

struct emulator_program {
	char path[PATH_MAX];
	char version[32]; /* "7.2.22" */
	unsigned int major, minor;
	char why_not[EMULATOR_ERROR]; /* no guest at all can be run; or "" */
};

struct emulator_arguments {
	char *argv[EMULATOR_NR_ARGUMENTS]; /* NULL-terminated */
	unsigned int nr;
	bool incomplete; /* there was no memory for one */
};

/** emulator_program_find - what is on the PATH; asked anew only when that has changed */
const struct emulator_program *emulator_program_find(void);

/**
 * emulator_program_plugin - the counting plug-in
 * @ret_path: PATH_MAX bytes
 *
 * Return: 0; -ENOENT.
 */
int emulator_program_plugin(char *ret_path);

/**
 * emulator_program_arguments - the command line of a guest
 * @boot:          its paths are relative to this process's directory
 * @ret_arguments: for emulator_program_free_arguments(), also after a failure
 * @error:         on failure one line, EMULATOR_ERROR bytes
 *
 * Return: 0 or a negative errno.
 */
int emulator_program_arguments(const struct emulator_program *program,
			       const struct emulator_boot *boot,
			       struct emulator_arguments *ret_arguments, char *error);

void emulator_program_free_arguments(struct emulator_arguments *arguments);

#endif
