/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "program.h"

/* A file of one program header and what it names. */
struct image {
	ElfW(Ehdr) header;
	ElfW(Phdr) entries[3];
	char interpreter[64];
	ElfW(Dyn) dynamic[2];
	char strings[32];
};

static struct image image_of(const char *interpreter)
{
	struct image image = {};
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	/* This machine's class, byte order and number. */
	assert_true(self >= 0);
	assert_int_equal(read(self, &image.header, sizeof(image.header)), sizeof(image.header));
	close(self);
	image.header.e_type = ET_EXEC;
	image.header.e_phoff = offsetof(struct image, entries);
	image.header.e_phentsize = sizeof(ElfW(Phdr));
	image.header.e_phnum = 1;
	image.entries[0].p_type = PT_LOAD;
	if (interpreter) {
		image.header.e_phnum = 2;
		image.entries[1].p_type = PT_INTERP;
		image.entries[1].p_offset = offsetof(struct image, interpreter);
		image.entries[1].p_filesz = strlen(interpreter) + 1;
		strcpy(image.interpreter, interpreter);
	}
	return image;
}

static enum program_kind kind_of_bytes(const void *bytes, size_t nr_bytes)
{
	const struct program_ids ids = program_ids_now();
	int file = memfd_create("program", MFD_CLOEXEC);
	enum program_kind kind;

	assert_true(file >= 0);
	assert_int_equal(write(file, bytes, nr_bytes), nr_bytes);
	assert_int_equal(fchmod(file, 0755), 0);
	kind = program_recognise(file, "", AT_EMPTY_PATH, &ids);
	/* Neither the position nor the descriptors have changed. */
	assert_int_equal(lseek(file, 0, SEEK_CUR), nr_bytes);
	close(file);
	return kind;
}

static enum program_kind kind_of(const struct image *image)
{
	return kind_of_bytes(image, sizeof(*image));
}

static enum program_kind kind_of_path(const char *path)
{
	const struct program_ids ids = program_ids_now();

	return program_recognise(AT_FDCWD, path, 0, &ids);
}

static void the_loader_decides(void **state)
{
	static const struct {
		const char *interpreter;
		enum program_kind kind;
	} cases[] = {
		{ "/lib64/ld-linux-x86-64.so.2", PROGRAM_PRELOADED },
		{ "/lib/ld-linux-aarch64.so.1", PROGRAM_PRELOADED },
		{ "/opt/glibc/lib/ld-linux-x86-64.so.2", PROGRAM_PRELOADED },
		{ "/lib/ld.so.1", PROGRAM_PRELOADED },
		{ "/lib/ld-musl-x86_64.so.1", PROGRAM_OTHER_LOADER },
		{ "/system/bin/linker64", PROGRAM_OTHER_LOADER },
		{ "/ld-linux/other", PROGRAM_OTHER_LOADER },
		{ NULL, PROGRAM_STATIC },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct image image = image_of(cases[i].interpreter);

		assert_int_equal(kind_of(&image), cases[i].kind);
	}
}

static void a_loader_has_a_name_and_a_static_program_has_none(void **state)
{
	struct image image = image_of(NULL);

	(void)state;
	image.header.e_type = ET_DYN;
	image.header.e_phnum = 2;
	image.entries[1].p_type = PT_DYNAMIC;
	image.entries[1].p_offset = offsetof(struct image, dynamic);
	image.entries[1].p_filesz = sizeof(image.dynamic);
	image.dynamic[0].d_tag = DT_FLAGS;
	assert_int_equal(kind_of(&image), PROGRAM_STATIC);
	image.dynamic[0].d_tag = DT_SONAME;
	assert_int_equal(kind_of(&image), PROGRAM_PRELOADED);
}

static void a_sanitizer_that_must_come_first_is_seen(void **state)
{
	static const struct {
		const char *needed;
		enum program_kind kind;
	} cases[] = {
		{ "libasan.so.8", PROGRAM_SANITIZED },
		{ "libtsan.so.2", PROGRAM_SANITIZED },
		{ "libclang_rt.asan-x86_64.so", PROGRAM_SANITIZED },
		{ "libubsan.so.1", PROGRAM_PRELOADED },
		{ "libc.so.6", PROGRAM_PRELOADED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct image image = image_of("/lib64/ld-linux-x86-64.so.2");

		image.header.e_phnum = 3;
		image.entries[0].p_vaddr = 0x10000;
		image.entries[0].p_filesz = sizeof(image);
		image.entries[2].p_type = PT_DYNAMIC;
		image.entries[2].p_offset = offsetof(struct image, dynamic);
		image.entries[2].p_filesz = sizeof(image.dynamic);
		image.dynamic[0].d_tag = DT_NEEDED;
		image.dynamic[0].d_un.d_val = 1;
		image.dynamic[1].d_tag = DT_STRTAB;
		image.dynamic[1].d_un.d_ptr = 0x10000 + offsetof(struct image, strings);
		strcpy(image.strings + 1, cases[i].needed);
		assert_int_equal(kind_of(&image), cases[i].kind);
		/* Nowhere in the file: nothing is known of it. */
		image.dynamic[1].d_un.d_ptr = 0x20000;
		assert_int_equal(kind_of(&image), PROGRAM_PRELOADED);
	}
}

static void another_machine_is_foreign(void **state)
{
	struct image image = image_of("/lib64/ld-linux-x86-64.so.2");

	(void)state;
	image.header.e_machine = EM_S390;
	assert_int_equal(kind_of(&image), PROGRAM_FOREIGN);
	image = image_of("/lib/ld-linux.so.2");
	image.header.e_ident[EI_CLASS] = ELFCLASS32 + ELFCLASS64 - image.header.e_ident[EI_CLASS];
	assert_int_equal(kind_of(&image), PROGRAM_FOREIGN);
}

static void nonsense_is_left_to_the_kernel(void **state)
{
	struct image image = image_of("/lib64/ld-linux-x86-64.so.2");

	(void)state;
	assert_int_equal(kind_of_bytes("", 0), PROGRAM_OTHER_FORMAT);
	assert_int_equal(kind_of_bytes("\177ELF", 4), PROGRAM_OTHER_FORMAT);
	assert_int_equal(kind_of_bytes(&image, sizeof(image.header) - 1), PROGRAM_OTHER_FORMAT);
	assert_int_equal(kind_of_bytes(&image, sizeof(image.header) + 1), PROGRAM_OTHER_FORMAT);
	image.header.e_type = ET_CORE;
	assert_int_equal(kind_of(&image), PROGRAM_OTHER_FORMAT);
	image = image_of("/lib64/ld-linux-x86-64.so.2");
	image.header.e_phoff = UINT64_MAX - 8;
	assert_int_equal(kind_of(&image), PROGRAM_OTHER_FORMAT);
	image = image_of("/lib64/ld-linux-x86-64.so.2");
	image.header.e_phnum = UINT16_MAX;
	assert_int_equal(kind_of(&image), PROGRAM_OTHER_FORMAT);
	image = image_of("/lib64/ld-linux-x86-64.so.2");
	image.entries[1].p_filesz = UINT64_MAX;
	assert_int_equal(kind_of(&image), PROGRAM_OTHER_FORMAT);
	image = image_of("/lib64/ld-linux-x86-64.so.2");
	image.entries[1].p_filesz--;
	assert_int_equal(kind_of(&image), PROGRAM_OTHER_FORMAT);
}

static void scripts_are_followed_as_deep_as_the_kernel_does(void **state)
{
	char folder[] = "/tmp/umemcg-unit.XXXXXX", path[64], text[128];

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int depth = 0; depth < 7; depth++) {
		FILE *file;

		if (depth)
			snprintf(text, sizeof(text), "#! \t%s/%d argument\n", folder, depth - 1);
		else
			snprintf(text, sizeof(text), "#!/proc/self/exe\n");
		snprintf(path, sizeof(path), "%s/%d", folder, depth);
		file = fopen(path, "w");
		assert_non_null(file);
		assert_true(fputs(text, file) > 0);
		assert_int_equal(fclose(file), 0);
		assert_int_equal(chmod(path, 0755), 0);
		assert_int_equal(kind_of_path(path),
				 depth < 5 ? PROGRAM_PRELOADED : PROGRAM_ABSENT);
	}
	for (int depth = 0; depth < 7; depth++) {
		snprintf(path, sizeof(path), "%s/%d", folder, depth);
		unlink(path);
	}
	rmdir(folder);
}

static void a_first_line_that_is_cut_off_names_nothing(void **state)
{
	char line[300];

	(void)state;
	memset(line, 'x', sizeof(line));
	memcpy(line, "#!/", 3);
	assert_int_equal(kind_of_bytes(line, sizeof(line)), PROGRAM_OTHER_FORMAT);
	assert_int_equal(kind_of_bytes("#!", 2), PROGRAM_OTHER_FORMAT);
	assert_int_equal(kind_of_bytes("#! \n", 4), PROGRAM_OTHER_FORMAT);
	/* The longest that the kernel takes. */
	line[255] = '\n';
	assert_int_equal(kind_of_bytes(line, sizeof(line)), PROGRAM_ABSENT);
}

static void what_is_no_file_is_not_opened(void **state)
{
	char folder[] = "/tmp/umemcg-unit.XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0755), 0);
	assert_int_equal(kind_of_path(path), PROGRAM_ABSENT);
	unlink(path);
	assert_int_equal(kind_of_path(path), PROGRAM_ABSENT);
	assert_int_equal(kind_of_path(folder), PROGRAM_ABSENT);
	assert_int_equal(kind_of_path("/dev/null"), PROGRAM_ABSENT);
	assert_int_equal(kind_of_path(""), PROGRAM_ABSENT);
	rmdir(folder);
}

static void other_ids_are_secure(void **state)
{
	const struct program_ids now = program_ids_now();
	struct program_ids ids = now;

	(void)state;
	ids.effective_uid++;
	assert_int_equal(program_recognise(AT_FDCWD, "/proc/self/exe", 0, &ids), PROGRAM_SECURE);
	ids = now;
	ids.effective_gid++;
	assert_int_equal(program_recognise(AT_FDCWD, "/proc/self/exe", 0, &ids), PROGRAM_SECURE);
	assert_int_equal(program_recognise(AT_FDCWD, "/proc/self/exe", 0, &now), PROGRAM_PRELOADED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_loader_decides),
		cmocka_unit_test(a_loader_has_a_name_and_a_static_program_has_none),
		cmocka_unit_test(a_sanitizer_that_must_come_first_is_seen),
		cmocka_unit_test(another_machine_is_foreign),
		cmocka_unit_test(nonsense_is_left_to_the_kernel),
		cmocka_unit_test(scripts_are_followed_as_deep_as_the_kernel_does),
		cmocka_unit_test(a_first_line_that_is_cut_off_names_nothing),
		cmocka_unit_test(what_is_no_file_is_not_opened),
		cmocka_unit_test(other_ids_are_secure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
