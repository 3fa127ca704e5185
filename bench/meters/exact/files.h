/* SPDX-License-Identifier: MIT */
/*
 * From a symbol to the source file it was compiled from: by debug information where there is any,
 * else by ranges of the kernel's text that are known to hold one file. A link keeps each object's
 * text together, so a file is what lies between two symbols; that the symbols which must lie inside
 * do is checked before a range is used.
 */
#ifndef BENCH_METERS_EXACT_FILES_H
#define BENCH_METERS_EXACT_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "meters/exact/kernels.h"

#define FILES_ERROR 512
/* Of a symbol whose file is not known. */
#define FILES_KERNEL "[kernel]"
#define FILES_USER   "[user]"

struct files;

/**
 * files_of_kernel - sources of a kernel's functions
 * @kernel:    with symbols; outlives the result
 * @ret_files: for files_destroy()
 * @why_not:   FILES_ERROR bytes: "" or a line that says why some or all symbols have no file
 *
 * Return: 0; -ENOMEM; -EINVAL for debug information that is not this kernel's, with the line.
 */
int files_of_kernel(const struct kernel *kernel, struct files **ret_files, char *why_not);

/**
 * files_of_program - sources of a program's functions, from its own debug information
 * @path: of an ELF executable
 *
 * Return: as files_of_kernel(); without debug information ret_files knows none and why_not says so.
 */
int files_of_program(const char *path, struct files **ret_files, char *why_not);

/**
 * files_path - the file of a symbol
 * @address: of its first byte
 * @name:    an unlikely part ("f.cold") follows "f"; other parts and clones are told by address
 *
 * Return: "mm/memcontrol.c", relative to the source's top where that is known; or NULL.
 */
const char *files_path(const struct files *files, uint64_t address, const char *name);

void files_destroy(struct files *files);

#endif
