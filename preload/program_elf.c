/* SPDX-License-Identifier: MIT */
/*
 * An ELF file's header, program headers and interpreter. A file of another class, byte order or
 * machine than this object is foreign, whatever else it holds.
 */
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program_elf.h"

/* The kernel takes no more program headers than this. */
#define MAX_PHDR_BYTES 65536u
/* Those of a loader are some 30 entries; this bounds what a hostile file makes us read. */
#define MAX_DYNAMIC_ENTRIES 4096u
#define NR_AT_ONCE          16

/* This object's own header, which the linker names. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

struct elf_file {
	int file;
	const char *head;
	size_t nr_bytes;
};

/* Reads from what is at hand, else from the file. */
static bool read_at(const struct elf_file *elf, uint64_t at, void *to, size_t nr_bytes)
{
	if (at <= elf->nr_bytes && nr_bytes <= elf->nr_bytes - at) {
		memcpy(to, elf->head + at, nr_bytes);
		return true;
	}
	return at <= INT64_MAX - nr_bytes &&
	       syscall(SYS_pread64, elf->file, to, nr_bytes, (off_t)at) == (ssize_t)nr_bytes;
}

/* Names of glibc's loaders on all its machines; musl's are ld-musl-MACHINE.so.1. */
static bool is_glibc_loader(const char *path)
{
	static const char prefixes[][10] = { "ld-linux", "ld64.so.", "ld.so." };
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static enum program_kind kind_by_interpreter(const struct elf_file *elf, const ElfW(Phdr) * header)
{
	uint64_t nr_bytes = header->p_filesz, nr_skipped = 0;
	char path[NAME_MAX + 2];

	if (nr_bytes < 2 || nr_bytes > PATH_MAX)
		return PROGRAM_OTHER_FORMAT;
	/* The last part is all that is asked for. */
	if (nr_bytes > sizeof(path))
		nr_skipped = nr_bytes - sizeof(path);
	nr_bytes -= nr_skipped;
	if (!read_at(elf, header->p_offset + nr_skipped, path, nr_bytes) || path[nr_bytes - 1])
		return PROGRAM_OTHER_FORMAT;
	return is_glibc_loader(path) ? PROGRAM_PRELOADED : PROGRAM_OTHER_LOADER;
}

/* Gathered in one pass over the program headers. */
struct headers {
	ElfW(Phdr) interpreter, dynamic;
	bool has_interpreter;
};

/* The first entry of a tag in the dynamic section. */
static bool find_dynamic(const struct elf_file *elf, const ElfW(Phdr) * header, ElfW(Sxword) tag,
			 uint64_t *ret_value)
{
	uint64_t nr_entries = header->p_filesz / sizeof(ElfW(Dyn));
	ElfW(Dyn) entries[NR_AT_ONCE];

	if (nr_entries > MAX_DYNAMIC_ENTRIES)
		nr_entries = MAX_DYNAMIC_ENTRIES;
	for (uint64_t i = 0; i < nr_entries; i++) {
		const ElfW(Dyn) *entry = &entries[i % NR_AT_ONCE];
		uint64_t nr_left = nr_entries - i;

		if (i % NR_AT_ONCE == 0 &&
		    !read_at(elf, header->p_offset + i * sizeof(*entries), entries,
			     (nr_left < NR_AT_ONCE ? nr_left : NR_AT_ONCE) * sizeof(*entries)))
			return false;
		*ret_value = entry->d_un.d_val;
		if (entry->d_tag == DT_NULL || entry->d_tag == tag)
			return entry->d_tag == tag;
	}
	return false;
}

/* Calls @visit for each program header, until it returns false; false if they cannot be read. */
static bool walk_headers(const struct elf_file *elf, const ElfW(Ehdr) * elf_header,
			 bool (*visit)(const ElfW(Phdr) * header, void *arg), void *arg)
{
	ElfW(Phdr) headers[NR_AT_ONCE];

	for (unsigned int i = 0; i < elf_header->e_phnum; i++) {
		unsigned int nr_left = elf_header->e_phnum - i;

		if (i % NR_AT_ONCE == 0 &&
		    !read_at(elf, elf_header->e_phoff + i * sizeof(*headers), headers,
			     (nr_left < NR_AT_ONCE ? nr_left : NR_AT_ONCE) * sizeof(*headers)))
			return false;
		if (!visit(&headers[i % NR_AT_ONCE], arg))
			break;
	}
	return true;
}

static bool gather(const ElfW(Phdr) * header, void *arg)
{
	struct headers *headers = arg;

	if (header->p_type == PT_INTERP && !headers->has_interpreter) {
		headers->interpreter = *header;
		headers->has_interpreter = true;
	}
	if (header->p_type == PT_DYNAMIC)
		headers->dynamic = *header;
	return true;
}

/* An address in the program, and where in the file it lies. */
struct place {
	uint64_t address, at;
	bool is_found;
};

static bool find_place(const ElfW(Phdr) * header, void *arg)
{
	struct place *place = arg;

	if (header->p_type != PT_LOAD || place->address < header->p_vaddr ||
	    place->address - header->p_vaddr >= header->p_filesz)
		return true;
	place->at = header->p_offset + (place->address - header->p_vaddr);
	place->is_found = true;
	return false;
}

/*
 * Their runtimes look whether they come first among all that is loaded, and end the program, or
 * crash, otherwise; so a program names its runtime as the first that it needs.
 */
static bool needs_sanitizer(const struct elf_file *elf, const ElfW(Ehdr) * elf_header,
			    const ElfW(Phdr) * dynamic)
{
	static const char runtimes[][18] = { "libasan.so", "libtsan.so", "libhwasan.so",
					     "libclang_rt.asan", "libclang_rt.tsan" };
	struct place strings = { 0 };
	char name[sizeof(runtimes[0])];
	uint64_t needed;

	if (!find_dynamic(elf, dynamic, DT_NEEDED, &needed) ||
	    !find_dynamic(elf, dynamic, DT_STRTAB, &strings.address) ||
	    !walk_headers(elf, elf_header, find_place, &strings) || !strings.is_found ||
	    needed > INT64_MAX || strings.at > INT64_MAX ||
	    !read_at(elf, strings.at + needed, name, sizeof(name)))
		return false;
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++)
		if (!strncmp(name, runtimes[i], strlen(runtimes[i])))
			return true;
	return false;
}

static enum program_kind kind_by_headers(const struct elf_file *elf, const ElfW(Ehdr) * elf_header)
{
	struct headers headers = { 0 };
	enum program_kind kind;
	uint64_t name;

	if (!walk_headers(elf, elf_header, gather, &headers))
		return PROGRAM_OTHER_FORMAT;
	if (headers.has_interpreter) {
		kind = kind_by_interpreter(elf, &headers.interpreter);
		if (kind == PROGRAM_PRELOADED && needs_sanitizer(elf, elf_header, &headers.dynamic))
			kind = PROGRAM_SANITIZED;
		return kind;
	}
	/* A loader is executed without another's help, and loads what LD_PRELOAD names. It has a
	 * name. */
	if (elf_header->e_type == ET_DYN && find_dynamic(elf, &headers.dynamic, DT_SONAME, &name))
		return PROGRAM_PRELOADED;
	return PROGRAM_STATIC;
}

enum program_kind program_elf_kind(int file, const char *head, size_t nr_bytes)
{
	const struct elf_file elf = { .file = file, .head = head, .nr_bytes = nr_bytes };
	ElfW(Ehdr) header;

	if (nr_bytes < EI_NIDENT + 4 || memcmp(head, ELFMAG, SELFMAG))
		return PROGRAM_OTHER_FORMAT;
	/* Type and machine lie at the same place in both classes. */
	memcpy(&header, head, EI_NIDENT + 4);
	if (header.e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] ||
	    header.e_ident[EI_DATA] != __ehdr_start.e_ident[EI_DATA] ||
	    header.e_machine != __ehdr_start.e_machine)
		return PROGRAM_FOREIGN;
	if (nr_bytes < sizeof(header))
		return PROGRAM_OTHER_FORMAT;
	memcpy(&header, head, sizeof(header));
	if ((header.e_type != ET_EXEC && header.e_type != ET_DYN) ||
	    header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phnum == 0 ||
	    header.e_phnum > MAX_PHDR_BYTES / sizeof(ElfW(Phdr)) ||
	    header.e_phoff > INT64_MAX - MAX_PHDR_BYTES)
		return PROGRAM_OTHER_FORMAT;
	return kind_by_headers(&elf, &header);
}
