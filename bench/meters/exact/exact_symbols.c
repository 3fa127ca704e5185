/* SPDX-License-Identifier: MIT */
/* Functions of a program, by its symbol table. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meters/exact/exact_symbols.h"

struct symbol {
	uint64_t address;
	const char *name; /* the ELF file's */
	bool global;
};

/* Of several names of one address the global one comes first, else the first in the alphabet. */
static int by_address(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->global != b->global)
		return a->global ? -1 : 1;
	return strcmp(a->name, b->name);
}

static Elf_Scn *find_table(Elf *elf, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, ret_header) && ret_header->sh_type == SHT_SYMTAB)
			return section;
	}
	return NULL;
}

static size_t read_table(Elf *elf, Elf_Data *data, const GElf_Shdr *header, size_t nr_entries,
			 struct symbol *symbols)
{
	size_t nr_symbols = 0;

	for (size_t i = 0; i < nr_entries; i++) {
		GElf_Sym entry;
		const char *name;
		int type;

		if (!gelf_getsym(data, (int)i, &entry) || entry.st_shndx == SHN_UNDEF)
			continue;
		type = GELF_ST_TYPE(entry.st_info);
		/* An indirect function's symbol is that of what chooses the function. */
		if (type != STT_FUNC && type != STT_GNU_IFUNC)
			continue;
		name = elf_strptr(elf, header->sh_link, entry.st_name);
		if (!name || !*name || !entry.st_value)
			continue;
		symbols[nr_symbols++] = (struct symbol){
			.address = entry.st_value,
			.name = name,
			.global = GELF_ST_BIND(entry.st_info) != STB_LOCAL,
		};
	}
	return nr_symbols;
}

static int print_table(Elf *elf, FILE *out)
{
	GElf_Ehdr elf_header;
	GElf_Shdr header;
	Elf_Scn *section;
	Elf_Data *data;
	struct symbol *symbols;
	size_t nr_entries, nr_symbols;

	if (!gelf_getehdr(elf, &elf_header) || elf_header.e_type != ET_EXEC)
		return -ENOEXEC;
	section = find_table(elf, &header);
	data = section ? elf_getdata(section, NULL) : NULL;
	if (!data || !header.sh_entsize)
		return -ENOEXEC;
	nr_entries = header.sh_size / header.sh_entsize;
	symbols = calloc(nr_entries + 1, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	nr_symbols = read_table(elf, data, &header, nr_entries, symbols);
	qsort(symbols, nr_symbols, sizeof(*symbols), by_address);
	for (size_t i = 0; i < nr_symbols; i++) {
		if (!i || symbols[i].address != symbols[i - 1].address)
			fprintf(out, "%" PRIx64 " %s\n", symbols[i].address, symbols[i].name);
	}
	free(symbols);
	return nr_symbols ? 0 : -ENOEXEC;
}

int exact_symbols_of_program(const char *path, FILE *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;
	int ret;

	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	ret = elf ? print_table(elf, out) : -ENOEXEC;
	elf_end(elf);
	close(fd);
	return ret;
}
