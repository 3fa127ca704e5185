/* SPDX-License-Identifier: MIT */
/*
 * Telling what a program is, on any bytes: it says the same twice, leaves no descriptor, and calls
 * a script or nonsense what the kernel would.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct program_ids ids = program_ids_now();
	int file = memfd_create("program", MFD_CLOEXEC), next;
	enum program_kind kind;

	if (file < 0)
		return 0;
	check(write(file, data, size) == (ssize_t)size && !fchmod(file, 0755));
	next = dup(file);
	close(next);
	kind = program_recognise(file, "", AT_EMPTY_PATH, &ids);
	check(kind == program_recognise(file, "", AT_EMPTY_PATH, &ids));
	check(lseek(file, 0, SEEK_CUR) == (off_t)size);
	if (size < 2 || memcmp(data, "#!", 2)) {
		bool is_elf = size >= 20 && !memcmp(data, "\177ELF", 4);

		check(is_elf || kind == PROGRAM_OTHER_FORMAT);
	}
	check(program_is_seen(kind) || *program_why(kind));
	/* The lowest free descriptor is the same as before. */
	check(dup(file) == next);
	close(next);
	close(file);
	return 0;
}
