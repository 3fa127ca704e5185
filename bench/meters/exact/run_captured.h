/* SPDX-License-Identifier: MIT */
/* Running a program for what it prints. */
#ifndef BENCH_METERS_EXACT_RUN_CAPTURED_H
#define BENCH_METERS_EXACT_RUN_CAPTURED_H

/* What was printed beyond it is thrown away. */
#define RUN_CAPTURED_SIZE (256u * 1024)

/**
 * run_captured - run a program and keep what it prints
 * @argv:       NULL-terminated; argv[0] is looked for on the PATH
 * @folder:     to run in, or NULL
 * @timeout_s:  after which it is ended; 0 for never
 * @ret_text:   standard output and standard error as they came, for free(); NULL when it could not
 *              be started
 * @ret_status: as waitpid() has it
 *
 * It reads nothing, speaks English, and is ended when a signal has set block_interrupted.
 *
 * Return: 0 if it ran to its end, whatever its status; -EINTR, -ETIME; the errno of starting it.
 */
int run_captured(const char *const *argv, const char *folder, double timeout_s, char **ret_text,
		 int *ret_status);

#endif
