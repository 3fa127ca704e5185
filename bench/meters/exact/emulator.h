/* SPDX-License-Identifier: MIT */
/*
 * One guest: an emulator that boots a kernel with the lab's own image as its only user space, hands
 * it a job, and counts its instructions. Guests are started and awaited apart, so that several run
 * side by side. All their files lie in one temporary directory that emulator_finish() removes.
 */
#ifndef BENCH_METERS_EXACT_EMULATOR_H
#define BENCH_METERS_EXACT_EMULATOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A line, and the console's last ones below it. */
#define EMULATOR_ERROR 2048

/* Memory of every guest. */
#define EMULATOR_NR_BYTES (512ull << 20)

struct emulator_boot {
	const char *kernel;       /* path of a bzImage */
	const char *image;        /* path of an initramfs, from image_write() */
	const char *command_line; /* added to what every guest gets, or NULL */
	const char *job;          /* text of job_format() */
	const char *symbols; /* path: "ADDRESS NAME" lines for the plug-in; NULL: do not count */
	bool calls;          /* count calls too */
	double timeout_s;    /* of the host's clock */
	double silent_cpu_s; /* of processor time, until it answers anything; 0: a minute */
	const char *cpu;     /* processor model; NULL: the pinned default */
};

struct emulator; /* a guest that runs */

/**
 * emulator_why_not - why no guest can be run here
 *
 * Return: a line (no emulator, one without plug-ins, no plug-in), or NULL if it can.
 */
const char *emulator_why_not(void);

/** emulator_version - "7.2.22", as the emulator says; "" if it does not */
const char *emulator_version(void);

/** emulator_processor - the pinned model of the guest's processor */
const char *emulator_processor(void);

/** emulator_command_line - what every guest's kernel is given */
const char *emulator_command_line(void);

/**
 * emulator_start - boot a guest
 * @boot:         copied as far as it is needed after the call
 * @ret_emulator: for emulator_finish()
 * @error:        on failure one line, EMULATOR_ERROR bytes
 *
 * Return: 0 or a negative errno, and nothing is left behind.
 */
int emulator_start(const struct emulator_boot *boot, struct emulator **ret_emulator, char *error);

/**
 * emulator_await - wait until one of several guests has ended or is out of time
 * @emulators:     running ones; NULL among them is skipped
 * @nr_emulators:  how many
 * @timeout_s:     at most so long, for whoever shows progress
 * @ret_index:     which one ended
 *
 * One that is out of time, whose kernel has halted, or that stays silent is ended first. One that
 * has ended is named until it is no longer asked for. Guests do not end on a signal: the caller
 * finishes them.
 *
 * Return: 0; -EAGAIN when none did in time; -EINTR for a signal (block_interrupted); -EINVAL for
 * none.
 */
int emulator_await(struct emulator *const *emulators, size_t nr_emulators, double timeout_s,
		   size_t *ret_index);

/** emulator_progress - blocks that the guest has said are over, so far */
unsigned int emulator_progress(const struct emulator *emulator);

/**
 * emulator_result - what an ended guest left
 * @emulator:    has ended
 * @ret_answer:  text of what it said, for free(); set whenever it said anything
 * @ret_counts:  path of the plug-in's file, valid until emulator_finish()
 * @error:       on failure: what happened, one line; the console's last lines follow it, each
 *               behind "    | "
 *
 * Return: 0 if the guest has done its job and everything it counted is there; -ETIME if it was out
 * of time or silent; -ENOSPC if the temporary directory is full; -EIO if its kernel halted or
 * panicked, it gave up, or the emulator did.
 */
int emulator_result(struct emulator *emulator, char **ret_answer, const char **ret_counts,
		    char *error);

/**
 * emulator_doubts - what the plug-in found doubtful in the counts of a guest that ended well
 * @ret_doubts: EMULATOR_ERROR bytes, one line; empty if nothing
 */
void emulator_doubts(const struct emulator *emulator, char *ret_doubts);

/** emulator_finish - end the guest if it still runs, and remove its files; may be NULL */
void emulator_finish(struct emulator *emulator);

#endif
