/* SPDX-License-Identifier: MIT */
/* What files.h hides: ranges of addresses, each of one source file, and who fills them in. */
#ifndef BENCH_METERS_EXACT_FILES_RANGES_H
#define BENCH_METERS_EXACT_FILES_RANGES_H

#include <libelf.h>

#include "meters/exact/files.h"

struct file_range {
	uint64_t start;
	uint64_t end;     /* behind its last byte */
	const char *path; /* one of the paths below */
};

struct files {
	struct file_range *ranges; /* sorted by start once all are in */
	size_t nr_ranges;
	char **paths;
	size_t nr_paths;
	const struct kernel_symbol **by_name; /* of a kernel; sorted by name */
	size_t nr_by_name;
};

/**
 * files_add_path - keep a path
 * @path:     copied
 * @ret_path: the copy, which lives as long as @files
 *
 * Return: 0; -ENOMEM.
 */
int files_add_path(struct files *files, const char *path, char **ret_path);

/** files_add_range - @path is one of the files' own; 0 or -ENOMEM */
int files_add_range(struct files *files, uint64_t start, uint64_t end, const char *path);

/**
 * files_add_units - ranges of all compilation units that debug information describes
 * @files:    gets the ranges
 * @elf:      of an executable
 * @top_file: "init/main.c" if the file of that name tells where the source's top is; NULL: the top
 *            is the folder that holds every unit compiled in the most usual folder
 *
 * Return: how many units there are, 0 without debug information; -ENOMEM.
 */
int files_add_units(struct files *files, Elf *elf, const char *top_file);

/* A function in the symbol table of an executable. */
struct elf_function {
	uint64_t address;
	uint64_t nr_bytes;
	const char *name;   /* belongs to the Elf */
	const char *file;   /* of a local symbol: the file symbol before it; else NULL */
	size_t file_number; /* which file symbol: two folders may each have a file of that name */
	size_t section;
};

/**
 * elf_functions_read - symbols of executable sections, sorted by address, then by name
 * @elf:              of an executable; outlives the functions
 * @ret_functions:    for free()
 * @ret_nr_functions: how many; 0 without a symbol table
 *
 * Return: 0; -ENOMEM.
 */
int elf_functions_read(Elf *elf, struct elf_function **ret_functions, size_t *ret_nr_functions);

/** elf_functions_agreeing - how many of a kernel's symbols are among them, at the same address */
size_t elf_functions_agreeing(const struct elf_function *functions, size_t nr_functions,
			      const struct kernel *kernel);

/**
 * files_add_functions - ranges of local functions, by the names of their file symbols
 * @files: what its ranges hold already is left out, and gives the file's other functions its path
 *
 * A global function belongs to the file of the local ones on both sides of it, and is given that.
 *
 * Return: how many functions have a file; -ENOMEM.
 */
int files_add_functions(struct files *files, struct elf_function *functions, size_t nr_functions);

/**
 * files_add_anchored - ranges that are known to hold one file of a kernel
 * @files:   gets those that pass every check
 * @kernel:  with symbols
 * @why_not: FILES_ERROR bytes: "" or a line about those that do not
 *
 * Return: how many files were found; -ENOMEM.
 */
int files_add_anchored(struct files *files, const struct kernel *kernel, char *why_not);

#endif
