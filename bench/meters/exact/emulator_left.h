/* SPDX-License-Identifier: MIT */
/* What an emulator has left in its directory, and what that says of how its guest ended. */
#ifndef BENCH_METERS_EXACT_EMULATOR_LEFT_H
#define BENCH_METERS_EXACT_EMULATOR_LEFT_H

#include <stdbool.h>

#include "meters/exact/temporary_folder.h"

/* What is known of the end beside the files. */
struct emulator_end {
	int status;         /* as waitpid() has it */
	bool killed;        /* it had to be ended, for one of these three reasons */
	double timed_out_s; /* after so many seconds; or 0 */
	double silent_s;    /* after so many of processor time without an answer; or 0 */
	bool halted;        /* its kernel had stopped for good */
	bool counted;       /* the plug-in is to have left its file */
};

/** emulator_left_blocks - lines of the answer that say a block is over, so far */
unsigned int emulator_left_blocks(const struct temporary_folder *folder);

/** emulator_left_is_silent - has the guest answered nothing so far? */
bool emulator_left_is_silent(const struct temporary_folder *folder);

/** emulator_left_has_halted - does the console say that nothing more will come? */
bool emulator_left_has_halted(const struct temporary_folder *folder);

/** emulator_left_read - as emulator_result() */
int emulator_left_read(const struct temporary_folder *folder, const struct emulator_end *end,
		       char **ret_answer, char *error);

/** emulator_left_doubts - as emulator_doubts() */
void emulator_left_doubts(const struct temporary_folder *folder, char *ret_doubts);

/** emulator_left_explain_folder - why it could not be used, EMULATOR_ERROR bytes */
void emulator_left_explain_folder(const struct temporary_folder *folder, int error_code,
				  char *error);

#endif
