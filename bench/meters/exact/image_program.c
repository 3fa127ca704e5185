/* SPDX-License-Identifier: MIT */
/* What a program needs to run, and what it marks, as its file says. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meters/exact/image.h"
#include "meters/exact/mark.h"
#include "umemcg-marks.h"

#define ACCEPTED "accepted is a static x86-64 program (gcc -static)"

static int refuse(const char *program, const char *what, char *error)
{
	snprintf(error, IMAGE_ERROR, "%.300s: %s; " ACCEPTED, program, what);
	return -EINVAL;
}

/* The program header of a type, if there is one. */
static bool find_header(Elf *elf, GElf_Word type, GElf_Phdr *ret_header)
{
	size_t nr_headers = 0;

	if (elf_getphdrnum(elf, &nr_headers))
		return false;
	for (size_t i = 0; i < nr_headers; i++) {
		if (gelf_getphdr(elf, (int)i, ret_header) && ret_header->p_type == type)
			return true;
	}
	return false;
}

/* A file that is linked to libraries, or is one. */
static bool needs_libraries(Elf *elf)
{
	GElf_Phdr header;
	Elf_Data *data;
	GElf_Dyn entry;

	if (!find_header(elf, PT_DYNAMIC, &header))
		return false;
	data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_DYN);
	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		if (entry.d_tag == DT_NEEDED)
			return true;
	}
	return false;
}

static int refuse_marks(const char *program, const char *what, char *error)
{
	snprintf(error, IMAGE_ERROR,
		 "%.300s: %s; accepted are marks of parts from 1 to %d, or none at all", program,
		 what, UMEMCG_MARK_MAX);
	return -EINVAL;
}

/*
 * Parts of higher numbers are the guest's own, and a program that marks ends or iterations alone
 * would cut them short: what is counted as a whole marks nothing.
 */
static int check_marks(const char *program, Elf *elf, char *error)
{
	bool has_part = false, has_other = false;
	char what[32];
	unsigned int id;
	size_t nr_bytes = 0;
	const char *bytes = elf_rawfile(elf, &nr_bytes);

	for (size_t i = 0; bytes && i + MARK_NR_BYTES <= nr_bytes; i++) {
		if (!mark_read((const uint8_t *)bytes + i, &id))
			continue;
		if (id > UMEMCG_MARK_MAX && id != UMEMCG_MARK_ITERATION_ID) {
			snprintf(what, sizeof(what), "it marks a part %u", id);
			return refuse_marks(program, what, error);
		}
		has_part = has_part || (id >= 1 && id <= UMEMCG_MARK_MAX);
		has_other = has_other || !id || id == UMEMCG_MARK_ITERATION_ID;
	}
	if (has_other && !has_part)
		return refuse_marks(program, "it marks no part, but the end or iterations of one",
				    error);
	return 0;
}

static int check_elf(const char *program, Elf *elf, char *error)
{
	GElf_Phdr interpreter;
	GElf_Ehdr header;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		return refuse(program, "not an ELF file", error);
	if (gelf_getclass(elf) != ELFCLASS64 || header.e_machine != EM_X86_64)
		return refuse(program, "for another machine", error);
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return refuse(program, "not linked to a program", error);
	if (find_header(elf, PT_INTERP, &interpreter) || needs_libraries(elf))
		return refuse(program, "linked dynamically", error);
	if (!header.e_entry)
		return refuse(program, "a library", error);
	return check_marks(program, elf, error);
}

int image_check_program(const char *program, char *error)
{
	int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	char start[2] = "";
	Elf *elf;
	int ret;

	if (fd < 0 || fstat(fd, &status)) {
		snprintf(error, IMAGE_ERROR, "%.300s: %s; " ACCEPTED, program, strerror(errno));
		ret = -EINVAL;
	} else if (!S_ISREG(status.st_mode)) {
		ret = refuse(program, "not a file", error);
	} else if (pread(fd, start, 2, 0) == 2 && start[0] == '#' && start[1] == '!') {
		ret = refuse(program, "a script", error);
	} else {
		elf_version(EV_CURRENT);
		elf = elf_begin(fd, ELF_C_READ, NULL);
		ret = check_elf(program, elf, error);
		elf_end(elf);
	}
	if (fd >= 0)
		close(fd);
	return ret;
}
