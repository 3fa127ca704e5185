/* SPDX-License-Identifier: MIT */
/*
 * Files out of an executable's symbol table. It names a file before that file's local symbols, and
 * only there: globals come behind all of them. No folder is told.
 */
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "meters/exact/files_ranges.h"
#include "array.h"

static Elf_Scn *symbol_table(Elf *elf, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, ret_header) && ret_header->sh_type == SHT_SYMTAB &&
		    ret_header->sh_entsize)
			return section;
	}
	return NULL;
}

static bool is_executable(Elf *elf, size_t index)
{
	Elf_Scn *section = elf_getscn(elf, index);
	GElf_Shdr header;

	return section && gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR);
}

static bool is_function(Elf *elf, const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	/* Assembly often leaves the type out. */
	return (type == STT_FUNC || type == STT_NOTYPE) && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_shndx < SHN_LORESERVE && is_executable(elf, symbol->st_shndx);
}

static int by_address(const void *a, const void *b)
{
	const struct elf_function *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return strcmp(left->name, right->name);
}

int elf_functions_read(Elf *elf, struct elf_function **ret_functions, size_t *ret_nr_functions)
{
	struct elf_function *functions = NULL, *grown;
	const char *file = NULL, *name;
	size_t nr_functions = 0, nr_files = 0;
	GElf_Shdr header;
	Elf_Scn *section = symbol_table(elf, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;

	*ret_functions = NULL;
	*ret_nr_functions = 0;
	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		name = elf_strptr(elf, header.sh_link, symbol.st_name);
		if (GELF_ST_TYPE(symbol.st_info) == STT_FILE) {
			file = name && *name ? name : NULL;
			nr_files++;
		}
		if (!name || !*name || !is_function(elf, &symbol))
			continue;
		grown = array_grown(functions, nr_functions, sizeof(*functions));
		if (!grown) {
			free(functions);
			return -ENOMEM;
		}
		functions = grown;
		functions[nr_functions++] = (struct elf_function){
			.address = symbol.st_value,
			.nr_bytes = symbol.st_size,
			.name = name,
			.file = GELF_ST_BIND(symbol.st_info) == STB_LOCAL ? file : NULL,
			.file_number = nr_files,
			.section = symbol.st_shndx,
		};
	}
	if (nr_functions)
		qsort(functions, nr_functions, sizeof(*functions), by_address);
	*ret_functions = functions;
	*ret_nr_functions = nr_functions;
	return 0;
}

size_t elf_functions_agreeing(const struct elf_function *functions, size_t nr_functions,
			      const struct kernel *kernel)
{
	size_t nr_agreeing = 0;

	for (size_t i = 0; nr_functions && i < kernel->nr_symbols; i++) {
		const struct elf_function wanted = {
			.address = kernel->symbols[i].address,
			.name = kernel->symbols[i].name,
		};

		nr_agreeing += bsearch(&wanted, functions, nr_functions, sizeof(wanted),
				       by_address) != NULL;
	}
	return nr_agreeing;
}

/* Gives the functions without a file that of their neighbours, where both have the same. */
static void spread_files(struct elf_function *functions, size_t nr_functions)
{
	size_t after;

	for (size_t first = 0; first < nr_functions; first = after + 1) {
		const struct elf_function *before = first ? &functions[first - 1] : NULL;

		for (after = first; after < nr_functions && !functions[after].file;)
			after++;
		if (!before || after == nr_functions ||
		    before->file_number != functions[after].file_number ||
		    before->section != functions[after].section)
			continue;
		for (size_t i = first; i < after; i++) {
			functions[i].file = before->file;
			functions[i].file_number = before->file_number;
		}
	}
}

static const struct file_range *range_at(const struct file_range *ranges, size_t nr_ranges,
					 uint64_t address)
{
	for (size_t i = 0; i < nr_ranges; i++) {
		if (address >= ranges[i].start && address < ranges[i].end)
			return &ranges[i];
	}
	return NULL;
}

/* Paths of the files that have a function in one of the ranges, by their numbers; for free(). */
static const char **known_paths(const struct files *files, const struct elf_function *functions,
				size_t nr_functions)
{
	const char **paths;
	size_t nr_files = 0;

	for (size_t i = 0; i < nr_functions; i++)
		nr_files =
			functions[i].file_number > nr_files ? functions[i].file_number : nr_files;
	paths = calloc(nr_files + 1, sizeof(*paths));
	for (size_t i = 0; paths && i < nr_functions; i++) {
		const struct file_range *range =
			range_at(files->ranges, files->nr_ranges, functions[i].address);

		if (range && functions[i].file)
			paths[functions[i].file_number] = range->path;
	}
	return paths;
}

int files_add_functions(struct files *files, struct elf_function *functions, size_t nr_functions)
{
	const char **paths = known_paths(files, functions, nr_functions);
	size_t nr_ranges = files->nr_ranges;
	int nr_found = 0, ret = 0;

	if (!paths)
		return -ENOMEM;
	spread_files(functions, nr_functions);
	for (size_t i = 0; !ret && i < nr_functions; i++) {
		const struct elf_function *function = &functions[i];
		uint64_t end = function->address + (function->nr_bytes ? function->nr_bytes : 1);
		char *path;

		/* Of several names of one address the first that has a file tells it. */
		if (!function->file || range_at(files->ranges, nr_ranges, function->address) ||
		    (nr_found && files->ranges[files->nr_ranges - 1].start == function->address))
			continue;
		if (!paths[function->file_number]) {
			ret = files_add_path(files, function->file, &path);
			if (ret)
				break;
			paths[function->file_number] = path;
		}
		ret = files_add_range(files, function->address, end, paths[function->file_number]);
		nr_found++;
	}
	free(paths);
	return ret ? ret : nr_found;
}
