/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef UMEMCG_BENCH_COMPARE_H
#define UMEMCG_BENCH_COMPARE_H

/**
 * compare_main - the verb compare: judge result files and print them
 * @argc: as main()
 * @argv: as main(), but for the program's name, which is the verb
 *
 * Return: the exit status: 0; 1 if the report could not be made or written; 2
 * for wrong input, after one line on standard error.
 */
int compare_main(int argc, char **argv);

#endif
