/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

/**
 * bench_main - the verb bench: measure, print tables, write results
 * @argc: as main()
 * @argv: as main(), but for the program's name, which is the verb
 *
 * Return: the exit status: 0; 1 if nothing could be measured or not all be written; 2 for wrong
 * input, a kernel or an emulator among it, after one line on standard error; 130 if interrupted,
 * with what was measured.
 */
int bench_main(int argc, char **argv);

/** bench_catch_signals - from now on an interruption sets block_interrupted, the second one ends */
void bench_catch_signals(void);

#endif
