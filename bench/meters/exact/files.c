/* SPDX-License-Identifier: MIT */
#include "meters/exact/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meters/exact/files_ranges.h"
#include "array.h"

/* Of a kernel's symbols in percent; another kernel of the same source agrees by a few only. */
#define AGREEING_PERCENT 99

int files_add_path(struct files *files, const char *path, char **ret_path)
{
	char **paths = array_grown(files->paths, files->nr_paths, sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	files->paths = paths;
	paths[files->nr_paths] = strdup(path);
	if (!paths[files->nr_paths])
		return -ENOMEM;
	*ret_path = paths[files->nr_paths++];
	return 0;
}

int files_add_range(struct files *files, uint64_t start, uint64_t end, const char *path)
{
	struct file_range *ranges = array_grown(files->ranges, files->nr_ranges, sizeof(*ranges));

	if (!ranges)
		return -ENOMEM;
	files->ranges = ranges;
	ranges[files->nr_ranges++] = (struct file_range){ start, end, path };
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct file_range *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct kernel_symbol *const *)a)->name,
		      (*(const struct kernel_symbol *const *)b)->name);
}

static int index_names(struct files *files, const struct kernel *kernel)
{
	files->by_name = calloc(kernel->nr_symbols + 1, sizeof(struct kernel_symbol *));
	if (!files->by_name)
		return -ENOMEM;
	for (size_t i = 0; i < kernel->nr_symbols; i++)
		files->by_name[i] = &kernel->symbols[i];
	files->nr_by_name = kernel->nr_symbols;
	qsort(files->by_name, files->nr_by_name, sizeof(struct kernel_symbol *), by_name);
	return 0;
}

/* An executable that is open for reading. */
struct executable {
	int fd;
	Elf *elf;
};

static void executable_close(struct executable *executable)
{
	elf_end(executable->elf);
	close(executable->fd);
}

static int executable_open(const char *path, struct executable *ret_executable, char *error)
{
	int ret;

	elf_version(EV_CURRENT);
	ret_executable->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (ret_executable->fd < 0) {
		ret = -errno;
		snprintf(error, FILES_ERROR, "%.256s: %s", path, strerror(-ret));
		return ret;
	}
	ret_executable->elf = elf_begin(ret_executable->fd, ELF_C_READ_MMAP, NULL);
	if (ret_executable->elf && elf_kind(ret_executable->elf) == ELF_K_ELF)
		return 0;
	executable_close(ret_executable);
	snprintf(error, FILES_ERROR, "%.256s: not an ELF file; accepted is a program, or a vmlinux",
		 path);
	return -EINVAL;
}

/* Addresses are what tells one build from another: nearly all must be the same. */
static int check_agreement(const struct elf_function *functions, size_t nr_functions,
			   const struct kernel *kernel, char *error)
{
	size_t nr_agreeing = elf_functions_agreeing(functions, nr_functions, kernel);

	if (nr_agreeing && nr_agreeing >= kernel->nr_symbols / 100 * AGREEING_PERCENT)
		return 0;
	snprintf(
		error, FILES_ERROR,
		"%.200s: not of the kernel %.128s, only %zu of its %zu functions are there; accepted "
		"is the vmlinux of the same build",
		kernel->debug, kernel->release, nr_agreeing, kernel->nr_symbols);
	return -EINVAL;
}

/* Without debug information: known ranges, and for all else the names in the symbol table. */
static int add_named(struct files *files, struct elf_function *functions, size_t nr_functions,
		     const struct kernel *kernel, char *why_not)
{
	int ret;

	ret = files_add_anchored(files, kernel, why_not);
	if (ret >= 0)
		ret = files_add_functions(files, functions, nr_functions);
	if (ret > 0)
		snprintf(why_not, FILES_ERROR,
			 "%.256s: no debug information; most files are told by its symbol table, "
			 "without their folders, and some functions have none",
			 kernel->debug);
	if (ret)
		return ret < 0 ? ret : 0;
	snprintf(
		why_not, FILES_ERROR,
		"%.256s: neither debug information nor names of files in it; accepted is a vmlinux "
		"built with CONFIG_DEBUG_INFO",
		kernel->debug);
	return -EINVAL;
}

static int add_debug_information(struct files *files, Elf *elf, const struct kernel *kernel,
				 char *why_not)
{
	struct elf_function *functions;
	size_t nr_functions;
	int ret;

	ret = elf_functions_read(elf, &functions, &nr_functions);
	if (ret)
		return ret;
	ret = check_agreement(functions, nr_functions, kernel, why_not);
	if (!ret)
		ret = files_add_units(files, elf, "init/main.c");
	if (!ret)
		ret = add_named(files, functions, nr_functions, kernel, why_not);
	free(functions);
	return ret < 0 ? ret : 0;
}

static int add_of_kernel(struct files *files, const struct kernel *kernel, char *why_not)
{
	struct executable debug;
	int ret;

	ret = index_names(files, kernel);
	if (ret)
		return ret;
	if (!*kernel->debug) {
		ret = files_add_anchored(files, kernel, why_not);
		return ret < 0 ? ret : 0;
	}
	ret = executable_open(kernel->debug, &debug, why_not);
	if (ret)
		return ret;
	ret = add_debug_information(files, debug.elf, kernel, why_not);
	executable_close(&debug);
	return ret;
}

/* Sorts what was added, or frees it after a failure. */
static int finish(struct files *files, int ret, struct files **ret_files)
{
	if (ret) {
		files_destroy(files);
		return ret;
	}
	if (files->nr_ranges)
		qsort(files->ranges, files->nr_ranges, sizeof(*files->ranges), by_start);
	*ret_files = files;
	return 0;
}

int files_of_kernel(const struct kernel *kernel, struct files **ret_files, char *why_not)
{
	struct files *files = calloc(1, sizeof(*files));

	*why_not = '\0';
	if (!files)
		return -ENOMEM;
	return finish(files, add_of_kernel(files, kernel, why_not), ret_files);
}

int files_of_program(const char *path, struct files **ret_files, char *why_not)
{
	struct files *files = calloc(1, sizeof(*files));
	struct executable program;
	int ret;

	*why_not = '\0';
	if (!files)
		return -ENOMEM;
	ret = executable_open(path, &program, why_not);
	if (ret)
		return finish(files, ret, ret_files);
	ret = files_add_units(files, program.elf, NULL);
	if (!ret)
		snprintf(why_not, FILES_ERROR,
			 "%.256s: no debug information; accepted is a program compiled with -g",
			 path);
	executable_close(&program);
	return finish(files, ret < 0 ? ret : 0, ret_files);
}

static const char *path_at(const struct files *files, uint64_t address)
{
	size_t low = 0, high = files->nr_ranges;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (files->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < files->ranges[low - 1].end ? files->ranges[low - 1].path : NULL;
}

/* Where a static function's name is used in several files, the part may be of any of them. */
static const char *path_of_name(const struct files *files, const char *name)
{
	size_t low = 0, high = files->nr_by_name;
	const char *path = NULL;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(files->by_name[middle]->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i < files->nr_by_name; i++) {
		const char *other;

		if (strcmp(files->by_name[i]->name, name))
			break;
		other = path_at(files, files->by_name[i]->address);
		if (i > low && path != other)
			return NULL;
		path = other;
	}
	return path;
}

/*
 * Unlikely parts lie far from their functions, and padding before them. Clones ("f.constprop.0")
 * lie in their file, which need not be that of "f": a header's function is cloned where it is used.
 */
static const char *path_of_whole(const struct files *files, const char *name)
{
	static const char padding[] = "__pfx_", part[] = ".cold";
	bool is_padding = strncmp(name, padding, strlen(padding)) == 0;
	char whole[256], *end;

	name += is_padding ? strlen(padding) : 0;
	if (strlen(name) >= sizeof(whole))
		return NULL;
	strcpy(whole, name);
	end = strstr(whole, part);
	if (end)
		*end = '\0';
	return is_padding || end ? path_of_name(files, whole) : NULL;
}

const char *files_path(const struct files *files, uint64_t address, const char *name)
{
	const char *path = path_at(files, address);

	return path ? path : path_of_whole(files, name);
}

void files_destroy(struct files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->nr_paths; i++)
		free(files->paths[i]);
	free(files->paths);
	free(files->ranges);
	free(files->by_name);
	free(files);
}
