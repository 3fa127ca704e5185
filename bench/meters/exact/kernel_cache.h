/* SPDX-License-Identifier: MIT */
/*
 * The cache: kernels that were downloaded, "vmlinuz-RELEASE", and symbols that were asked for,
 * "symbols-HASH" with the hash of the kernel's file:
 *
 *	umemcg-symbols 1
 *	release RELEASE
 *	ADDRESS NAME		hexadecimal; any number of lines
 *	end SHA256		of all lines before
 *
 * An entry that is damaged counts as missing.
 */
#ifndef BENCH_METERS_EXACT_KERNEL_CACHE_H
#define BENCH_METERS_EXACT_KERNEL_CACHE_H

#include "meters/exact/kernels.h"

/**
 * kernel_cache_path - $XDG_CACHE_HOME/umemcg, else ~/.cache/umemcg
 * @ret_path: PATH_MAX bytes
 *
 * Return: 0; -ENOENT if the environment names neither.
 */
int kernel_cache_path(char *ret_path);

/**
 * kernel_cache_create - the same, and it exists afterwards, for this user alone
 * @error: on failure one line, KERNEL_ERROR bytes
 *
 * Return: 0 or a negative errno.
 */
int kernel_cache_create(char *ret_path, char *error);

/**
 * kernel_cache_read_symbols - fill in what is kept under the kernel's hash
 *
 * Return: 0; -ENOENT if nothing is, or it is damaged; -ENOMEM.
 */
int kernel_cache_read_symbols(struct kernel *kernel);

/** kernel_cache_write_symbols - keep them; a negative errno with a line in @error, KERNEL_ERROR
 * bytes */
int kernel_cache_write_symbols(const struct kernel *kernel, char *error);

#endif
