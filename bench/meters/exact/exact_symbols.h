/* SPDX-License-Identifier: MIT */
/* Functions of a program, by its symbol table. */
#ifndef BENCH_METERS_EXACT_EXACT_SYMBOLS_H
#define BENCH_METERS_EXACT_EXACT_SYMBOLS_H

#include <stdio.h>

/**
 * exact_symbols_of_program - write a program's functions as lines "ADDRESS NAME"
 * @path: of a program that is loaded where it was linked to
 * @out:  sorted by address, one name an address
 *
 * Return: 0; -ENOEXEC for what is no such program or has no symbols; -ENOMEM; an errno.
 */
int exact_symbols_of_program(const char *path, FILE *out);

#endif
