/* SPDX-License-Identifier: MIT */
/* The newest kernel of a directory. */
#ifndef BENCH_METERS_EXACT_KERNEL_FIND_H
#define BENCH_METERS_EXACT_KERNEL_FIND_H

/**
 * kernel_find_in - a kernel among the files vmlinuz-RELEASE of a directory
 * @folder:   absolute
 * @release:  which to prefer, or NULL; else the newest by its version is taken
 * @ret_path: PATH_MAX bytes
 *
 * What cannot be read or booted is passed over.
 *
 * Return: 0; -ENOENT.
 */
int kernel_find_in(const char *folder, const char *release, char *ret_path);

#endif
