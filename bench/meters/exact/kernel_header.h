/* SPDX-License-Identifier: MIT */
/* A kernel's file: whether it is one that can be booted here, by the header of its boot protocol.
 */
#ifndef BENCH_METERS_EXACT_KERNEL_HEADER_H
#define BENCH_METERS_EXACT_KERNEL_HEADER_H

#include <stddef.h>

/**
 * kernel_header_read - check a file and find its release
 * @path:        of a bzImage for x86-64
 * @ret_release: of so many bytes as @size; "" where the header names none
 * @error:       on failure one line, KERNEL_ERROR bytes
 *
 * Return: 0; -EINVAL for another file or a truncated one; the errno of reading it.
 */
int kernel_header_read(const char *path, char *ret_release, size_t size, char *error);

#endif
