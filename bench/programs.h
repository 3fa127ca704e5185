/* SPDX-License-Identifier: MIT */
/* Finding a program of umemcg's that belongs to this one. */
#ifndef BENCH_PROGRAMS_H
#define BENCH_PROGRAMS_H

/**
 * programs_find - the program @name beside this one's executable, as in a build, else where the
 * build's options install it
 * @name:     without a directory; NAME.so need not be executable
 * @ret_path: PATH_MAX bytes
 *
 * Return: 0; -ENOENT.
 */
int programs_find(const char *name, char *ret_path);

#endif
